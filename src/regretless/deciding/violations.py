"""By how much decisions violate a model, which rows and variables they violate, and which decision violates least."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse

from regretless.deciding.decision import Violation
from regretless.milp import MILP, TOLERANCE, Floats, with_tolerance
from regretless.solvers import make_engine


def total_violation(milp: MILP, x: Floats, activity: Floats) -> Floats:
    """Sum of the relative violations of all bounds, per decision ``(m, n)`` with row values ``(m, rows)``.

    The violation of a bound ``b`` counts relative to ``max(1, |b|)``, as the tolerances of the library do.
    """
    lower, upper = milp.integer_bounds()
    parts = [(x, lower, upper), (activity, milp.row_lower, milp.row_upper)]
    return np.asarray(sum(_relative(*part).sum(axis=1) for part in parts))


def violations(milp: MILP, x: Floats, variable_names: tuple[str, ...], row_names: tuple[str, ...]) -> list[Violation]:
    """Rows, then variables, that a decision ``(n,)`` puts outside of their bounds, the largest violation first."""
    lower, upper = milp.integer_bounds()
    activity = milp.A @ x
    of_integers = milp.integer_scale > 0
    rows = _outside("row", activity, milp.row_lower, milp.row_upper, row_names, milp.row_scale, of_integers)
    return rows + _outside("variable", x, lower, upper, variable_names, np.ones(len(x)), milp.integer)


def _outside(
    kind: Literal["row", "variable"],
    values: Floats,
    low: Floats,
    high: Floats,
    names: tuple[str, ...],
    scale: Floats,
    exact: Any,
) -> list[Violation]:
    below, above = with_tolerance(low, high, TOLERANCE, exact)
    outside, size = (values < below) | (values > above), _relative(values, low, high)
    worst = [int(i) for i in np.argsort(-size, kind="stable") if outside[i]]
    numbers = np.stack([values, low, high]) / scale  # tiny rows as they are written
    return [Violation(names[i], kind, *(float(number) for number in numbers[:, i])) for i in worst]


def _relative(values: Floats, low: Floats, high: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        below = np.where(np.isfinite(low), (low - values) / np.maximum(1.0, np.abs(low)), 0.0)
        above = np.where(np.isfinite(high), (values - high) / np.maximum(1.0, np.abs(high)), 0.0)
    return np.maximum(np.maximum(below, above), 0.0)


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
