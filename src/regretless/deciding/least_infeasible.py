"""The decision that violates a model least: the elastic form of the model, in which every row may be violated."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from regretless.milp import MILP, Floats
from regretless.solvers import make_engine


def elastic(milp: MILP) -> tuple[MILP, Floats]:
    """A model that is always feasible where the bounds of the variables are, and its objective.

    Every row gets two slack variables, for what it falls below its lower bound and what it exceeds its upper bound. The
    objective is their sum, each relative to ``max(1, |bound|)``. Bounds of variables stay.
    """
    rows, n = milp.A.shape
    finite = [np.isfinite(milp.row_lower), np.isfinite(milp.row_upper)]
    slack = sparse.hstack([sparse.diags_array(finite[0] * 1.0), sparse.diags_array(finite[1] * -1.0)])
    weight = [
        np.where(known, 1.0 / np.maximum(1.0, np.abs(np.where(known, bound, 1.0))), 0.0)
        for known, bound in zip(finite, (milp.row_lower, milp.row_upper), strict=True)
    ]
    upper = np.concatenate([np.where(known, np.inf, 0.0) for known in finite])
    return MILP(
        sparse.hstack([milp.A, slack]).tocsr(),
        row_lower=milp.row_lower,
        row_upper=milp.row_upper,
        lower=np.concatenate([milp.lower, np.zeros(2 * rows)]),
        upper=np.concatenate([milp.upper, upper]),
        integer=np.concatenate([milp.integer, np.zeros(2 * rows, dtype=bool)]),
    ), np.concatenate([np.zeros(n), *weight])


def least_infeasible(milp: MILP, *, time_limit: float | None) -> Floats | None:
    """A decision ``(n,)`` of smallest total violation of the rows, or the best one found within the time limit.

    Returns:
        ``None`` where none was found in time, or the bounds of a variable leave no value.
    """
    model, objective = elastic(milp)
    outcome = make_engine("highs", model, time_limit=time_limit, proof_nodes=0).solve(objective)
    return None if outcome.x is None else outcome.x[: milp.n]
