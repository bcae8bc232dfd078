"""Every engine on the same models: same optimal values as HiGHS, same statuses."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.solvers import available, make_engine, names
from regretless.types import Status

OTHERS = [name for name in names(integers=True) if name != "highs"]
COSTS = 12
inf = np.inf


def _assignment(k: int) -> MILP:
    rows = np.zeros((2 * k, k * k))
    for i in range(k):
        rows[i, i * k : (i + 1) * k] = 1.0
        rows[k + i, i::k] = 1.0
    return MILP(rows, row_lower=1.0, row_upper=1.0)


def _grid() -> dict[str, MILP]:
    rng = np.random.default_rng(7)
    whole = rng.integers(1, 9, (4, 8)).astype(float)
    signs = rng.integers(-4, 5, (4, 6)).astype(float)
    mixed = np.array([True, False] * 4)
    cover = (rng.random((7, 12)) < 0.4).astype(float)
    cover[:, 0] = 1.0
    return {
        "knapsack": MILP(rng.integers(3, 9, (1, 20)), row_upper=40.0),
        "several knapsacks": MILP(whole, row_upper=14.0),
        "assignment": _assignment(4),
        "set cover": MILP(cover, row_lower=1.0),
        "general integer": MILP(whole, row_upper=60.0, upper=7.0),
        "equalities": MILP(whole[:2], row_lower=[20.0, 24.0], row_upper=[20.0, 24.0], upper=9.0),
        "ranges": MILP(whole, row_lower=9.0, row_upper=30.0, upper=3.0),
        "negative lower bounds": MILP(signs, row_lower=-9.0, row_upper=12.0, lower=-5.0, upper=4.0),
        "free rows": MILP(whole, row_lower=[-inf, -inf, 3.0, -inf], row_upper=[inf, 20.0, inf, inf], upper=2.0),
        "empty row": MILP(np.vstack([whole[:1], 0.0 * whole[:1]]), row_upper=[11.0, 0.0]),
        "no rows": MILP(sparse.csr_array((0, 5)), lower=-2.0, upper=3.0),
        "fractions": MILP(whole / 10.0, row_upper=1.3, upper=2.0),
        "cost map": MILP(whole, row_upper=20.0, upper=2.0, cost_map=rng.integers(0, 3, (3, 8)), row_lower=5.0),
        "fixed cost": MILP(whole, row_upper=20.0, fixed_cost=rng.integers(-5, 6, 8), constant=2.5),
        "continuous": MILP(whole, row_upper=20.0, upper=3.0, integer=False),
        "mixed": MILP(whole, row_upper=20.0, upper=3.0, integer=mixed),
        "mixed equalities": MILP(whole[:2], row_lower=17.5, row_upper=17.5, upper=4.0, integer=mixed),
        "mixed unbounded above": MILP(whole, row_upper=25.0, upper=inf, integer=mixed),
    }


GRID = _grid()


def _objectives(milp: MILP) -> np.ndarray:
    rng = np.random.default_rng(milp.n)
    real = rng.normal(size=(COSTS // 2, milp.width)) * rng.choice([1.0, 30.0], milp.width)
    costs = np.vstack([real, rng.integers(-6, 7, (COSTS - COSTS // 2, milp.width))])
    if milp.has_fixed_cost:
        costs[:, -1] = 1.0
    return milp.objective(costs)


@cache
def _reference(name: str) -> np.ndarray:
    engine = make_engine("highs", GRID[name])
    outcomes = [engine.solve(objective) for objective in _objectives(GRID[name])]
    assert all(outcome.status is Status.OPTIMAL for outcome in outcomes)
    return np.array([row @ outcome.x for row, outcome in zip(_objectives(GRID[name]), outcomes, strict=True)])


def _needs(engine: str) -> None:
    if not available()[engine]:
        pytest.skip(f"the engine {engine} is not installed")


def test_the_grid_holds_at_least_ten_models():
    assert len(GRID) >= 10
    assert sum(bool(milp.integer.all()) and bool(np.isfinite(milp.upper).all()) for milp in GRID.values()) >= 10


@pytest.mark.parametrize("name", GRID)
@pytest.mark.parametrize("engine", OTHERS)
def test_engines_find_the_optimal_values_of_highs(engine, name):
    _needs(engine)
    milp = GRID[name]
    if engine == "cpsat" and not milp.integer.all():
        with pytest.raises(InputError, match="continuous"):
            make_engine(engine, milp)
        return
    solver = make_engine(engine, milp)
    for objective, value in zip(_objectives(milp), _reference(name), strict=True):
        outcome = solver.solve(objective)
        assert outcome.status is Status.OPTIMAL, outcome.message
        assert milp.check(outcome.x)[0]
        assert outcome.gap <= (1e-12 if engine == "cpsat" else 0.0)
        assert objective @ outcome.x == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("engine", OTHERS)
def test_answers_do_not_depend_on_what_was_solved_before(engine):
    _needs(engine)
    # ties everywhere: another history would show as another optimum
    milp, costs = GRID["set cover"], np.random.default_rng(1).integers(1, 3, (12, 12)).astype(float)
    one = make_engine(engine, milp)
    forwards = [one.solve(c).x for c in costs]
    backwards = [one.solve(c).x for c in costs[::-1]][::-1]
    fresh = [make_engine(engine, milp).solve(c).x for c in costs]
    assert np.array_equal(forwards, backwards)
    assert np.array_equal(forwards, fresh)


INFEASIBLE = {
    "relaxation": MILP([[1.0, 1.0]], row_lower=3.0),
    "whole numbers only": MILP([[2.0, 4.0]], row_lower=3.0, row_upper=3.0, upper=10.0),
    "empty row": MILP([[1.0, 1.0], [0.0, 0.0]], row_lower=[0.0, 1.0]),
    "no whole number between the bounds": MILP([[1.0, 1.0]], row_upper=9.0, lower=[0.2, 0.0], upper=[0.8, 1.0]),
    "unbounded relaxation": MILP([[2.0, 4.0, 0.0]], row_lower=3.0, row_upper=3.0, upper=[9.0, 9.0, inf]),
    "continuous": MILP([[1.0, 1.0]], row_lower=3.0, integer=False),
}
UNBOUNDED = {
    "whole": MILP([[1.0, -1.0]], row_lower=0.0, row_upper=3.0, upper=inf),
    "continuous": MILP([[1.0, -1.0]], row_lower=0.0, row_upper=3.0, upper=inf, integer=False),
    "mixed": MILP([[1.0, -1.0]], row_lower=0.0, row_upper=3.0, lower=-inf, upper=inf, integer=[True, False]),
}


# HiGHS 1.14 by itself calls the first two infeasible.
FRACTIONAL = [
    (MILP([[1.0, -1.0]], 0.0, 1.0, lower=[0.5, 0.0], upper=[1.5, 0.4]), [-2.0, 2.0], [1.0, 0.0]),
    (MILP([[1.0, 2.0]], row_upper=2.0, lower=[0.0, 0.5], upper=[1.0, 3.5]), [-2.0, 2.0], [0.0, 1.0]),
    (MILP([[1.0, 1.0]], row_lower=-1.0, lower=[-1.5, -0.5], upper=[2.5, 0.5]), [1.0, 1.0], [-1.0, 0.0]),
]


@pytest.mark.parametrize(("milp", "objective", "optimum"), FRACTIONAL)
@pytest.mark.parametrize("engine", names(integers=True))
def test_whole_variables_may_have_bounds_that_are_not_whole(engine, milp, objective, optimum):
    _needs(engine)
    outcome = make_engine(engine, milp).solve(np.array(objective))
    assert outcome.x is not None, outcome
    assert outcome.x.tolist() == optimum


@pytest.mark.parametrize("name", INFEASIBLE)
@pytest.mark.parametrize("engine", names(integers=True))
def test_an_infeasible_model_is_infeasible_everywhere(engine, name):
    _needs(engine)
    milp = INFEASIBLE[name]
    if engine == "cpsat" and (not milp.integer.all() or np.isinf(milp.upper).any()):
        pytest.skip("CP-SAT refuses such a model")
    solver = make_engine(engine, milp)
    for sign in (1.0, -1.0, 0.0):
        outcome = solver.solve(np.full(milp.n, sign))
        assert (outcome.status, outcome.x) == (Status.INFEASIBLE, None)


@pytest.mark.parametrize("name", UNBOUNDED)
@pytest.mark.parametrize("engine", names(integers=True))
def test_an_unbounded_model_is_unbounded_everywhere(engine, name):
    _needs(engine)
    milp = UNBOUNDED[name]
    if engine == "cpsat":
        with pytest.raises(InputError, match=r"bounds on every variable|continuous"):
            make_engine(engine, milp)
        return
    solver = make_engine(engine, milp)
    outcome = solver.solve(-np.ones(2))
    assert (outcome.status, outcome.x) == (Status.UNBOUNDED, None)
    # and the engine is none the worse for it
    if name != "mixed":
        assert solver.solve(np.ones(2)).x.tolist() == [0.0, 0.0]


def _market_split(slack: bool) -> MILP:
    """Cornuejols and Dawande's: hard for every solver at this size; with slacks a feasible point is at hand."""
    rng = np.random.default_rng(3)
    rows, n = 5, 40
    A = rng.integers(0, 100, (rows, n)).astype(float)
    half = np.floor(A.sum(axis=1) / 2)
    if slack:
        A = np.hstack([A, np.eye(rows), -np.eye(rows)])
        upper = np.concatenate([np.ones(n), np.full(2 * rows, 5000.0)])
        return MILP(A, row_lower=half, row_upper=half, upper=upper)
    return MILP(A, row_lower=half, row_upper=half)


@pytest.mark.parametrize("engine", names(integers=True))
def test_a_time_limit_without_a_solution_says_so(engine):
    _needs(engine)
    milp = _market_split(slack=False)
    start = time.perf_counter()
    outcome = make_engine(engine, milp, time_limit=0.2).solve(np.arange(40.0))
    assert time.perf_counter() - start < 5.0
    assert (outcome.status, outcome.x, outcome.gap) == (Status.TIME_LIMIT, None, inf)


@pytest.mark.parametrize("engine", names(integers=True))
def test_a_time_limit_with_a_solution_returns_it_with_its_gap(engine):
    _needs(engine)
    milp = _market_split(slack=True)
    solver = make_engine(engine, milp, time_limit=0.4)
    objective = np.concatenate([np.zeros(40), np.ones(10)])
    outcome = solver.solve(objective)
    assert outcome.status is Status.TIME_LIMIT
    assert milp.check(outcome.x)[0]
    assert outcome.gap > 1e-3


@pytest.mark.parametrize("engine", names(integers=True))
def test_a_solve_may_end_within_a_gap(engine):
    _needs(engine)
    rng = np.random.default_rng(0)
    milp = MILP(rng.integers(5, 40, (3, 40)).astype(float), row_upper=200.0)
    objective = -rng.random(40)
    best, loose = (make_engine(engine, milp, gap=gap).solve(objective) for gap in (0.0, 0.5))
    assert best.status is Status.OPTIMAL
    assert loose.status is Status.FEASIBLE
    assert objective @ loose.x - objective @ best.x <= loose.gap * abs(objective @ loose.x) + 1e-9
    assert 0 < loose.gap <= 0.5 + 1e-9


@pytest.mark.parametrize("engine", names(integers=True))
def test_the_time_limit_is_for_each_solve_and_not_for_all(engine):
    _needs(engine)
    milp = _market_split(slack=True)
    solver = make_engine(engine, milp, time_limit=0.3)
    hard, easy = np.concatenate([np.zeros(40), np.ones(10)]), np.zeros(50)
    assert [solver.solve(c).status for c in (hard, easy)] == [Status.TIME_LIMIT, Status.OPTIMAL]


@pytest.mark.parametrize("engine", names(integers=True))
def test_a_start_does_not_change_the_optimal_value(engine):
    _needs(engine)
    milp = GRID["several knapsacks"]
    solver = make_engine(engine, milp)
    objective = -np.arange(1.0, 9.0)
    value = objective @ solver.solve(objective).x
    for start in (np.zeros(8), np.eye(8)[0]):
        assert objective @ solver.solve(objective, start).x == pytest.approx(value)
    assert objective @ solver.solve(objective).x == pytest.approx(value)


@pytest.mark.parametrize("engine", names())
def test_an_unknown_option_is_refused_by_name(engine):
    _needs(engine)
    with pytest.raises(InputError, match="no_such_option"):
        make_engine(engine, GRID["knapsack"], no_such_option=1)
