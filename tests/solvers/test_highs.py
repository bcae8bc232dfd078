from __future__ import annotations

import time
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.solvers import make_engine
from regretless.solvers.highs import bare_highs, build, run_program
from regretless.types import Status


def points(milp: MILP) -> np.ndarray[Any, Any]:
    """All feasible integer points of a bounded model."""
    axes = [np.arange(low, high + 1) for low, high in zip(milp.lower, milp.upper, strict=True)]
    box = np.array(list(product(*axes)))
    return box[milp.check(box)]


@st.composite
def models(draw: st.DrawFn) -> tuple[MILP, np.ndarray[Any, Any]]:
    """General integers; ranges, equalities and one-sided rows; many of them infeasible; two objectives."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rows = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    low = rng.integers(-6, 6, rows).astype(float)
    high = low + rng.choice([0, 0, 2, 5], rows)
    low[rng.random(rows) < 0.25] = -np.inf
    high[rng.random(rows) < 0.25] = np.inf
    lower = rng.integers(-3, 2, n).astype(float)
    milp = MILP(
        rng.integers(-4, 5, (rows, n)).astype(float),
        row_lower=low,
        row_upper=high,
        lower=lower,
        upper=lower + rng.integers(0, 5, n),
    )
    return milp, np.stack([rng.integers(-5, 6, n).astype(float), rng.normal(size=n)])


@given(case=models())
def test_the_optimum_is_that_of_brute_force(case: tuple[MILP, np.ndarray[Any, Any]]) -> None:
    milp, objectives = case
    feasible = points(milp)
    engine = make_engine("highs", milp)
    for objective in objectives:
        outcome = engine.solve(objective)
        if len(feasible) == 0:
            assert outcome.status is Status.INFEASIBLE
            assert outcome.x is None
        else:
            assert outcome.status is Status.OPTIMAL
            assert outcome.gap == 0.0
            assert outcome.x is not None
            assert milp.check(outcome.x)[0]
            assert (outcome.x == np.round(outcome.x)).all()
            assert objective @ outcome.x == pytest.approx((feasible @ objective).min(), abs=1e-9)


@given(case=models())
def test_the_answer_does_not_depend_on_what_was_solved_before(case: tuple[MILP, np.ndarray[Any, Any]]) -> None:
    milp, (first, second) = case
    fresh, used = make_engine("highs", milp).solve(first), make_engine("highs", milp)
    for objective in (second, -first, np.zeros(milp.n)):
        used.solve(objective)
    again = used.solve(first)
    assert again.status is fresh.status
    assert (again.x is None) is (fresh.x is None)
    if again.x is not None:
        assert np.array_equal(again.x, fresh.x)


@pytest.mark.parametrize("warm", [False, True])
def test_the_last_digits_of_a_linear_program_do_not_depend_on_what_was_solved_before(warm: bool) -> None:
    chance = np.random.default_rng(0)
    A = chance.random((20, 40)) * 10.0 ** chance.uniform(-2, 2, (20, 1))  # HiGHS scales such rows
    milp = MILP(A, row_upper=A.sum(axis=1) / 4, upper=3.7, integer=False)
    objectives = -chance.random((6, 40))
    fresh = [make_engine("highs", milp, warm=warm).solve(objective).x for objective in objectives]
    used = make_engine("highs", milp, warm=warm)
    for objective, expected in zip(reversed(objectives), reversed(fresh), strict=True):
        assert np.array_equal(used.solve(objective).x, expected)


def test_mixed_models_keep_their_continuous_part() -> None:
    milp = MILP([[1.0, 1.0]], row_upper=2.5, upper=[3.0, 1.0], integer=[True, False])
    outcome = make_engine("highs", milp).solve(np.array([-2.0, -1.0]))
    assert outcome.x is not None
    assert outcome.x.tolist() == [2.0, 0.5]


@pytest.mark.parametrize(
    ("milp", "objective", "optimum"),
    [
        (MILP([[1.0, 1.0]], row_lower=4.5, upper=10.0, integer=[False, True]), [2.0, 3.0], 9.0),
        (MILP([[1.0, 1.0]], row_upper=2.5, upper=[3.0, 1.0], integer=[True, False]), [-2.0, -1.0], -4.5),
    ],
)
def test_presolve_does_not_spoil_mixed_models(milp: MILP, objective: list[float], optimum: float) -> None:
    # HiGHS 1.14.0 calls 15 and -3 optimal here: https://github.com/ERGO-Code/HiGHS/issues/3043
    outcome = make_engine("highs", milp).solve(np.array(objective))
    assert outcome.x is not None
    assert outcome.x @ objective == pytest.approx(optimum)


@st.composite
def mixed_models(draw: st.DrawFn) -> tuple[MILP, np.ndarray[Any, Any]]:
    """Integer variables with two continuous ones, each in one row only: the models that presolve got wrong."""
    return mixed_model(np.random.default_rng(draw(st.integers(0, 2**32 - 1))))


def mixed_model(rng: np.random.Generator) -> tuple[MILP, np.ndarray[Any, Any]]:
    whole = rng.integers(-3, 4, (2, 2)).astype(float)
    A = np.hstack([whole, np.diag(rng.choice([-2.0, -1.0, 1.0, 2.0], 2))])
    high = rng.integers(0, 8, 2) / 2
    low = np.where(rng.random(2) < 0.5, -np.inf, high - rng.integers(0, 4, 2) / 2)
    milp = MILP(A, row_lower=low, row_upper=high, upper=[3.0, 3.0, 1.0, 2.0], integer=[True, True, False, False])
    return milp, rng.integers(-4, 5, 4).astype(float)


@given(case=mixed_models())
def test_the_optimum_of_mixed_models_is_that_of_brute_force(case: tuple[MILP, np.ndarray[Any, Any]]) -> None:
    milp, objective = case
    A, best = milp.A.toarray(), np.inf
    for x in product(range(4), repeat=2):
        # what is left for each continuous variable is an interval, and its best end is known
        value = objective[:2] @ x
        for k in (0, 1):
            rest = (np.array([milp.row_lower[k], milp.row_upper[k]]) - A[k, :2] @ x) / A[k, 2 + k]
            low, high = max(rest.min(), 0.0), min(rest.max(), milp.upper[2 + k])
            value += np.inf if low > high + 1e-9 else min(objective[2 + k] * low, objective[2 + k] * high)
        best = min(best, value)
    outcome = make_engine("highs", milp).solve(objective)
    assert (outcome.status is Status.INFEASIBLE) is bool(best == np.inf)
    if best < np.inf:
        assert outcome.x is not None
        assert milp.check(outcome.x)[0]
        assert objective @ outcome.x == pytest.approx(best, abs=1e-4)


def test_continuous_variables_do_not_use_up_the_tolerance_of_rows() -> None:
    # With HiGHS's own tolerance the answer lies 2e-6 outside of the second row, and is better than the optimum.
    milp, objective = mixed_model(np.random.default_rng(4391))
    outcome = make_engine("highs", milp).solve(objective)
    assert outcome.x is not None
    assert milp.check(outcome.x, 1e-7)[0]


def test_a_relaxation_is_a_linear_program() -> None:
    milp = MILP([[2.0, 3.0]], row_upper=4.0)
    outcome = make_engine("highs", milp.relax()).solve(np.array([-2.0, -2.9]))
    assert outcome.status is Status.OPTIMAL
    assert outcome.x is not None
    assert outcome.x == pytest.approx([1.0, 2.0 / 3.0])


def free(A: Any, **settings: Any) -> MILP:
    return MILP(A, **({"lower": -np.inf, "upper": np.inf} | settings))


@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize(
    ("milp", "objective", "status"),
    [
        (free([[1.0, 1.0]], row_upper=1.0), [1.0, 0.0], Status.UNBOUNDED),
        (free([[1.0, -1.0], [1.0, -1.0]], row_lower=[0.0, -3.0], row_upper=[1.0, -2.0]), [1.0, 1.0], Status.INFEASIBLE),
        (free([[1.0, -1.0]], row_lower=0.0, row_upper=1.0), [1.0, -1.0], Status.OPTIMAL),
        (free([[1.0, -1.0]], row_lower=0.0, row_upper=1.0), [1.0, 1.0], Status.UNBOUNDED),
        (MILP([[1.0, 1.0]], row_lower=3.0), [1.0, 1.0], Status.INFEASIBLE),
        (MILP(np.zeros((0, 2)), upper=np.inf), [1.0, -1.0], Status.UNBOUNDED),
    ],
)
def test_infeasible_and_unbounded_are_told_apart(
    milp: MILP, objective: list[float], status: Status, integer: bool
) -> None:
    milp = milp if integer else milp.relax()
    engine = make_engine("highs", milp)
    for _ in range(2):
        outcome = engine.solve(np.array(objective))
        assert outcome.status is status
        assert (outcome.x is None) is (status is not Status.OPTIMAL)


def test_an_unbounded_relaxation_without_integer_points_is_infeasible() -> None:
    # 2 x - 2 y = 1 has no integer point, and its relaxation is unbounded
    milp = free([[2.0, -2.0]], row_lower=1.0, row_upper=1.0, lower=-50.0, upper=[50.0, 50.0])
    assert make_engine("highs", milp).solve(np.array([1.0, 1.0])).status is Status.INFEASIBLE


def test_an_unbounded_objective_does_not_spoil_the_next_solve() -> None:
    engine = make_engine("highs", MILP([[1.0, 1.0]], row_lower=1.0, upper=np.inf))
    assert engine.solve(np.array([-1.0, 1.0])).status is Status.UNBOUNDED
    outcome = engine.solve(np.array([1.0, 2.0]))
    assert outcome.x is not None
    assert outcome.x.tolist() == [1.0, 0.0]


def market_split(slack: bool) -> MILP:
    """Equalities that take branch and bound long; with slack every point is feasible at a cost."""
    rng = np.random.default_rng(0)
    rows, n = 4, 30
    A = rng.integers(0, 100, (rows, n)).astype(float)
    half = np.floor(A.sum(axis=1) / 2)
    if not slack:
        return MILP(A, row_lower=half, row_upper=half)
    A = np.hstack([A, np.eye(rows), -np.eye(rows)])
    upper = np.append(np.ones(n), np.full(2 * rows, np.inf))
    return MILP(A, row_lower=half, row_upper=half, upper=upper, integer=upper == 1.0)


def test_a_time_limit_with_an_incumbent_reports_it_with_its_gap() -> None:
    milp = market_split(slack=True)
    engine = make_engine("highs", milp, time_limit=0.2)
    objective = np.append(np.zeros(30), np.ones(8))
    for _ in range(3):  # each solve has its own time, whatever the ones before it took
        start = time.perf_counter()
        outcome = engine.solve(objective)
        seconds = time.perf_counter() - start
        assert outcome.status is Status.TIME_LIMIT
        assert 0.15 < seconds < 5.0
        assert outcome.x is not None
        assert milp.check(outcome.x)[0]
        assert 0.0 < outcome.gap <= 1.0
        assert outcome.message


def test_a_time_limit_without_a_solution_says_so() -> None:
    start = time.perf_counter()
    outcome = make_engine("highs", market_split(slack=False), time_limit=0.2).solve(np.zeros(30))
    assert time.perf_counter() - start < 5.0
    assert outcome.status is Status.TIME_LIMIT
    assert outcome.x is None
    assert outcome.gap == np.inf


def test_the_time_limit_does_not_add_up_over_many_solves() -> None:
    rng = np.random.default_rng(1)
    engine = make_engine("highs", MILP([rng.integers(1, 50, 20)], row_upper=200.0), time_limit=0.2)
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5:
        engine.solve(-rng.random(20))
    # One of them may be late on a busy machine, not all.
    assert Status.OPTIMAL in {engine.solve(-rng.random(20)).status for _ in range(10)}


def test_the_gap_is_closed_where_the_default_of_the_solver_would_leave_it_open() -> None:
    # two items whose values differ by less than 1e-4 of the whole: only the better one is optimal
    milp = MILP([np.append(np.ones(2), np.zeros(1))], row_upper=1.0)
    engine = make_engine("highs", milp)
    for better in (0, 1):
        objective = np.array([-1.0, -1.0, -1e6])
        objective[better] -= 1e-3
        outcome = engine.solve(objective)
        assert outcome.x is not None
        assert outcome.x[better] == 1.0


def test_answers_have_no_negative_zeros_and_no_rounding_noise() -> None:
    milp = MILP([[1.0, 1.0, 1.0]], row_lower=-1.0, row_upper=1.0, lower=-1.0)
    for seed in range(20):
        outcome = make_engine("highs", milp).solve(np.random.default_rng(seed).normal(size=3))
        assert outcome.x is not None
        assert not np.signbit(outcome.x[outcome.x == 0]).any()
        assert (outcome.x == np.round(outcome.x)).all()


@pytest.mark.parametrize("value", [1e10, 1e19, 1e25, 1e300])
def test_huge_finite_costs_are_either_solved_right_or_reported(value: float) -> None:
    milp = MILP([[1.0, 1.0]], row_upper=1.0)
    for sign in (1.0, -1.0):
        outcome = make_engine("highs", milp).solve(np.array([sign * value, -1.0]))
        if outcome.x is None:
            assert outcome.status is Status.ERROR
        else:
            assert outcome.x.tolist() == ([0.0, 1.0] if sign > 0 else [1.0, 0.0])


def test_a_start_does_not_change_the_optimum() -> None:
    milp = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)
    outcome = make_engine("highs", milp).solve(np.array([-3.0, -4.0, -5.0]), start=np.array([0.0, 0.0, 1.0]))
    assert outcome.x is not None
    assert outcome.x.tolist() == [1.0, 1.0, 0.0]


def test_a_gap_that_an_option_allows_is_not_called_optimal() -> None:
    rng = np.random.default_rng(0)
    milp = MILP(rng.integers(5, 40, (3, 40)).astype(float), row_upper=200.0)
    objective = -rng.random(40)
    best = make_engine("highs", milp).solve(objective)
    loose = make_engine("highs", milp, mip_rel_gap=0.5).solve(objective)
    assert best.status is Status.OPTIMAL
    assert loose.status is Status.FEASIBLE
    assert loose.x is not None
    assert best.x is not None
    assert objective @ loose.x - objective @ best.x <= loose.gap * abs(objective @ loose.x) + 1e-9


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(InputError, match="HiGHS does not know the option no_such_option = 1"):
        build(MILP([[1.0]]), no_such_option=1)


def test_a_known_option_arrives() -> None:
    engine = build(MILP([[1.0]]), time_limit=3.0, mip_rel_gap=0.5)
    assert engine._highs.getOptionValue("mip_rel_gap")[1] == 0.5
    assert engine._highs.getOptionValue("time_limit")[1] == 3.0
    assert engine._highs.getOptionValue("threads")[1] == 1


def test_it_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    make_engine("highs", MILP([[1.0]])).solve(np.array([-1.0]))
    assert capfd.readouterr() == ("", "")


def test_small_coefficients_count():
    milp = MILP([[1.0, 1e-10]], row_lower=5.0, upper=[10.0, 1e11], integer=False)
    assert make_engine("highs", milp).solve(np.array([100.0, 1e-10])).x == pytest.approx([0.0, 5e10])


def test_large_coefficients_exclude_no_feasible_point() -> None:
    milp = MILP([[1e7, 5.0]], row_lower=0.0, row_upper=1e7, lower=-1.0, upper=[2.0, 0.0])
    outcome = make_engine("highs", milp).solve(np.array([646.0, 750.0]))
    assert outcome.x is not None
    assert outcome.x.tolist() == [1.0, -1.0]


def test_a_switch_with_a_big_m_lets_nothing_through() -> None:
    milp = MILP([[1.0, -1e9]], row_upper=0.0, lower=[8.0, 0.0], upper=[np.inf, 1.0], integer=[False, True])
    outcome = make_engine("highs", milp).solve(np.array([1.0, 49.0]))
    assert outcome.x is not None
    assert outcome.x.tolist() == [8.0, 1.0]


def test_an_unbounded_linear_program_is_not_called_infeasible() -> None:
    milp = MILP(
        [[2.68, -0.66, 0.0], [2.47, -1.51, -0.73]],
        row_lower=[16.5, -np.inf],
        row_upper=[np.inf, 16.7],
        lower=[5.5, -2.9, 3.5],
        upper=[np.inf, np.inf, 12.8],
        integer=False,
    )
    outcome = make_engine("highs", milp).solve(np.array([-0.084, -0.016, 0.076]))
    assert (outcome.status, outcome.message) == (Status.UNBOUNDED, "Unbounded")


def test_a_linear_program_that_fails_from_the_last_basis_is_solved_without_it(monkeypatch):
    highspy, highs = bare_highs("test")
    highs.addVar(1.0, 5.0)
    runs = iter([highspy.HighsStatus.kError])
    solve = highs.run
    monkeypatch.setattr(highs, "run", lambda: next(runs, None) or solve())
    assert run_program(highspy, highs)
    assert next(runs, None) is None
    highs.changeColBounds(0, 2.0, 1.0)
    assert not run_program(highspy, highs)
