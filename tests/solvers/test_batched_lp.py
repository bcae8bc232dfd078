from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless import MILP, Problem
from regretless.errors import InputError, SolveError
from regretless.linear_programs.first_order_solver import FirstOrderSolver
from regretless.linear_programs.interior_solver import InteriorSolver
from regretless.solvers import batched_lp as module
from regretless.solvers import make_engine
from regretless.solvers.batched_lp import BatchedLP
from regretless.types import Status

METHODS = ["interior", "first-order"]
INF = np.inf


def random_program(seed: int) -> tuple[MILP, np.ndarray]:
    """A linear program with equalities, ranges, free variables, redundant rows and ties, and three costs.

    Some programs are infeasible and some costs are unbounded.
    """
    rng = np.random.default_rng(seed)
    n, rows = int(rng.integers(3, 13)), int(rng.integers(1, 9))
    A = rng.integers(-3, 4, size=(rows, n)) * (rng.random((rows, n)) < 0.7)
    point = np.round(rng.uniform(-1, 2, size=n), 1)
    activity = A @ point
    kind = rng.integers(0, 4, size=rows)  # at most, at least, range, equal
    row_lower = np.where(kind == 0, -INF, activity - np.where(kind == 3, 0.0, rng.integers(0, 3, size=rows)))
    row_upper = np.where(kind == 1, INF, activity + np.where(kind == 3, 0.0, rng.integers(0, 3, size=rows)))
    lower = np.where(rng.random(n) < 0.8, point - rng.integers(0, 3, size=n), -INF)
    upper = np.where(rng.random(n) < 0.7, point + rng.integers(0, 3, size=n), INF)
    if seed % 3 == 0:  # a row twice, and the sum of two rows
        A = np.vstack([A, 2 * A[0], A[0] + A[-1]])
        row_lower = np.r_[row_lower, 2 * row_lower[0], row_lower[0] + row_lower[-1]]
        row_upper = np.r_[row_upper, 2 * row_upper[0], row_upper[0] + row_upper[-1]]
    if seed % 10 == 7:  # contradictory rows
        A = np.vstack([A, A[0], A[0]])
        row_lower, row_upper = np.r_[row_lower, activity[0] + 5.0, -INF], np.r_[row_upper, INF, activity[0] + 4.0]
    costs = np.vstack([rng.normal(size=n), rng.integers(-2, 3, size=n), A[0] if A[0].any() else np.ones(n)])
    return MILP(A, row_lower, row_upper, lower, upper, integer=False), costs.astype(float)


def compared(seed: int, method: str) -> list[Status]:
    """Solve a random program and compare with HiGHS; the statuses of programs that did not converge stay ``ERROR``."""
    milp, costs = random_program(seed)
    found = Problem(milp, engine="batched-lp", method=method).solve(costs)
    best = Problem(milp, engine="highs").solve(costs)
    for k, status in enumerate(found.status):
        if status is Status.ERROR:
            assert "did not converge" in found.message[k]
            continue
        assert status is best.status[k], (seed, k)
        if status is Status.OPTIMAL:
            scale = 1.0 + abs(float(best.objective[k]))
            assert abs(float(found.objective[k] - best.objective[k])) <= 2e-6 * scale, (seed, k)
            assert bool(milp.check(found.decision[k].numpy(), 1e-5).all()), (seed, k)
    return found.status


@pytest.mark.parametrize(("method", "seeds"), [("interior", range(12)), ("first-order", (0, 7))])
def test_random_programs_end_as_in_highs(method, seeds):
    statuses = [status for seed in seeds for status in compared(seed, method)]
    assert {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED} <= set(statuses)
    assert Status.ERROR not in statuses


@pytest.mark.slow
@pytest.mark.parametrize(("method", "seeds"), [("interior", range(200)), ("first-order", range(60))])
def test_many_random_programs_end_as_in_highs(method, seeds):
    statuses = [status for seed in seeds for status in compared(seed, method)]
    assert statuses.count(Status.ERROR) <= 0.01 * len(statuses)


@pytest.mark.parametrize("method", METHODS)
def test_one_program_is_solved_like_a_batch(method, random_model):
    milp = random_model(1).relax()
    costs = np.random.default_rng(1).normal(size=(3, milp.n))
    engine = make_engine("batched-lp", milp, method=method)
    together = Problem(milp, engine="batched-lp", method=method).solve(costs)
    for k, c in enumerate(costs):
        alone = engine.solve(c)
        assert alone.status is together.status[k]
        if alone.x is not None:
            assert np.allclose(alone.x, together.decision[k], atol=1e-5)


def test_vertices_have_equal_bytes_in_every_batch():
    rng = np.random.default_rng(0)
    problem = Problem(MILP(rng.random((5, 30)), row_upper=3.0, integer=False), engine="batched-lp")
    costs = torch.as_tensor(-rng.random((40, 30)))
    together = problem(costs)
    assert torch.equal(torch.cat([problem(part) for part in costs.split(7)]), together)
    basic = ((together > 0) & (together < 1)).sum(dim=1)
    assert int(basic.max()) <= 5


def test_an_integer_variable_is_refused_by_name():
    milp = MILP([[1.0, 1.0]], row_upper=1.0, integer=[False, True], names=("a", "b"))
    with pytest.raises(InputError, match=r"variable 1 \(b\) is an integer"):
        Problem(milp, engine="batched-lp")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "simplex"}, "method must be one of"),
        ({"tolerance": 0.0}, "tolerance must be a finite number above 0"),
        ({"tolerance": "1e-8"}, "tolerance must be a finite number above 0, got .1e-8."),
        ({"tolerance": 1}, "tolerance must be between 0 and 1, got 1"),
        ({"threads": 2}, "got 'threads'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Problem(MILP([[1.0]], row_upper=1.0, integer=False), engine="batched-lp", **options)


def test_many_rows_choose_the_first_order_method(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 1)
    milp = MILP(np.eye(2), row_upper=0.5, integer=False)
    assert isinstance(BatchedLP(milp)._programs, FirstOrderSolver)
    assert isinstance(BatchedLP(milp, method="interior")._programs, InteriorSolver)
    assert isinstance(BatchedLP(MILP([[1.0, 1.0]], row_upper=0.5, integer=False))._programs, InteriorSolver)


@pytest.mark.parametrize("method", METHODS)
def test_a_time_limit_ends_as_such(method, monkeypatch):
    monkeypatch.setattr(module.time, "monotonic", lambda: 0.0)  # the deadline has passed at the first check
    problem = Problem(random_program(1)[0], engine="batched-lp", method=method, time_limit=1e-9)
    monkeypatch.setattr(module.time, "monotonic", iter(np.arange(1e6)).__next__)
    assert set(problem.solve(random_program(1)[1]).status) == {Status.TIME_LIMIT}


def test_a_method_that_was_chosen_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise SolveError("no memory")

    monkeypatch.setattr(module, "InteriorSolver", refuse)
    milp = MILP([[1.0, 1.0]], row_upper=1.0, integer=False)
    assert BatchedLP(milp).solve(-np.ones(2)).status is Status.OPTIMAL
    with pytest.raises(SolveError, match="no memory"):
        BatchedLP(milp, method="interior")
