"""The small MIP of diverse matching, over the pairs that their reduced costs do not exclude."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from regretless.milp import MILP, Floats
from regretless.problems.matching.formulation import Partners, Side
from regretless.problems.matching.lagrangian import value
from regretless.solvers import make_engine
from regretless.types import Status

CORE = 200  # pairs of the first MIP; measured on Cora
MIP_SCALE = 1e4  # HiGHS works to about 1e-6 in units of the objective: make this unit small
CLOSED = 1e-10  # relative gap at which a bound counts as closed
OPTIONS: dict[str, Any] = {"presolve": "off"}  # the reduced costs have already removed what presolve would


@dataclass(frozen=True)
class Answer:
    """A matching, its value, an upper bound on all values, and the status of the search."""

    partners: Partners
    bound: float = 0.0
    best: float = 0.0
    status: Status = Status.OPTIMAL


def slack(most: float, best: float, unit: float) -> float:
    """How far a better matching may be below the bound; negative if there can be none."""
    tolerance = CLOSED * max(1.0, abs(most))
    return most - best - unit + 1e-6 if unit else most - best - tolerance


def search(
    gain: Floats, side: Side, reduced: Floats, answer: Answer, *, unit: float, time_limit: float | None
) -> Answer:
    """Solve a MIP over the most promising pairs, and another over all pairs that could still improve its answer.

    Args:
        gain: ``(left, right)`` scaled gains.
        side: the side rows.
        reduced: ``(left, right)`` reduced costs of the pairs.
        answer: the best matching so far, and the bound that belongs to the reduced costs.
        unit: every value is an integer multiple of this number, or 0 if there is no such number.
        time_limit: seconds per MIP.
    """
    order = _promising(reduced)
    # Ties are resolved only up to rounding: the minimum over all that follow keeps the count on the safe side.
    sorted_reduced = np.minimum.accumulate(reduced.ravel()[order][::-1])[::-1]
    partners, most, best, kept = answer.partners, answer.bound, answer.best, 0
    while True:
        # A better matching contains only pairs whose reduced cost is within the slack.
        needed = int(np.searchsorted(sorted_reduced, slack(most, best, unit), side="right"))
        if needed <= kept:
            return Answer(partners, most, best)
        kept = min(CORE, len(order)) if kept == 0 and needed > CORE else needed
        pairs = np.sort(order[:kept])
        objective = -gain.ravel()[pairs] * (1.0 if unit else MIP_SCALE)
        engine = make_engine("highs", _core_milp(side, pairs), time_limit=time_limit, **OPTIONS)
        outcome = engine.solve(np.concatenate([objective, np.zeros(2)]))
        if outcome.x is not None:
            found = _partners(pairs[outcome.x[:-2] > 0.5], gain.shape)
            if value(gain, found) > best:
                partners, best = found, value(gain, found)
        if outcome.status is not Status.OPTIMAL:
            return Answer(partners, most, best, outcome.status)


def _promising(reduced: Floats) -> Partners:
    """Pairs by reduced cost; ties go diagonal by diagonal, so that every node is among the first pairs."""
    rows, columns = np.indices(reduced.shape)
    diagonal = (columns - rows) % max(reduced.shape)
    return np.lexsort((rows.ravel(), diagonal.ravel(), np.round(reduced.ravel(), 9)))


def _core_milp(side: Side, pairs: Partners) -> MILP:
    """The MILP over some pairs, with the counts s and d as two more integer variables: branching on them helps."""
    (left, right), n = side.same.shape, len(pairs)
    degree, every = left + right, np.arange(n)
    kind = np.where(side.same.ravel()[pairs], 0, 1)
    rows = np.concatenate([pairs // right, left + pairs % right, degree + kind, degree + np.array([0, 1, 2, 2, 3, 3])])
    columns = np.concatenate([every, every, every, n + np.array([0, 1, 0, 1, 0, 1])])
    side_rows = [-1.0, -1.0, 1.0 - side.p, -side.p, -side.q, 1.0 - side.q]
    matrix = sparse.coo_array((np.concatenate([np.ones(3 * n), side_rows]), (rows, columns)), (degree + 4, n + 2))
    most = float(min(left, right))
    return MILP(
        matrix,
        row_lower=np.concatenate([np.full(degree, -np.inf), np.zeros(4)]),
        row_upper=np.concatenate([np.ones(degree), np.zeros(2), np.full(2, np.inf)]),
        upper=np.concatenate([np.ones(n), [most, most]]),
    )


def _partners(pairs: Partners, shape: tuple[int, int]) -> Partners:
    left, right = np.unravel_index(pairs, shape)
    partners = np.full(shape[0], -1, dtype=np.int64)
    partners[left] = right
    return partners
