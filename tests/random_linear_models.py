"""Random linear models with every kind of row and bound, and their optima."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from regretless.milp import MILP


def random_model(seed: int, *, n: int = 7, rows: int = 5, hard: bool = True) -> MILP:
    """A feasible model with, when ``hard``, every kind of row and bound that a model may hold."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, size=(rows, n)).astype(float)
    point = rng.uniform(0.2, 0.8, size=n)
    activity = A @ point
    row_lower = np.where(rng.random(rows) < 0.4, activity - rng.random(rows), -np.inf)
    row_upper = activity + rng.random(rows)
    lower, upper = np.zeros(n), np.ones(n)
    if hard:
        row_lower[0] = row_upper[0] = activity[0]
        A = np.vstack([A, A[0] * 2.0, np.zeros(n), A[1] * 0.5, np.eye(n)[2], rng.normal(size=n), -A[2]])
        row_lower = np.r_[row_lower, 2 * activity[0], -1.0, -np.inf, -np.inf, -np.inf, -row_upper[2] - 1.0]
        row_upper = np.r_[row_upper, 2 * activity[0], 1.0, activity[1] * 0.5 + 5.0, 0.9, np.inf, np.inf]
        lower[3] = upper[3] = point[3]
        lower[4], upper[5] = -np.inf, np.inf
        lower[6], upper[6] = -5.0, 3.0
        # The two infinite bounds are closed by a row each, so that every cost has an optimum.
        A = np.vstack([A, np.eye(n)[4] + 0.1 * np.eye(n)[0], np.eye(n)[5] + 0.1 * np.eye(n)[1]])
        row_lower, row_upper = np.r_[row_lower, -2.0, -np.inf], np.r_[row_upper, np.inf, 2.0]
    return MILP(A, row_lower, row_upper, lower, upper)


def minimum(model: MILP, c: np.ndarray) -> float:
    """Optimal value of the linear relaxation, by HiGHS."""
    result = milp(
        c,
        constraints=LinearConstraint(model.A, model.row_lower, model.row_upper),
        bounds=Bounds(model.lower, model.upper),
    )
    assert result.success, result.message
    return float(result.fun)
