from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless import MILP, Problem
from regretless.errors import InputError
from regretless.family import Family
from regretless.solvers import engine_backend, make_engine
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


@pytest.mark.parametrize(("method", "seeds"), [("interior", range(30)), ("first-order", range(10))])
def test_random_programs_end_as_in_highs(method, seeds):
    statuses = [status for seed in seeds for status in compared(seed, method)]
    assert {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED} <= set(statuses)
    assert statuses.count(Status.ERROR) <= 0.02 * len(statuses)
