"""A proof of optimality that tolerances cannot spoil, for models with large integers.

Engines prune their search tree with tolerances. With integer variables of thousands of values HiGHS calls up to a third
of its answers optimal that are not, and tighter tolerances do not help. Here a small branch and bound closes every node
by one of two arguments that hold whatever an LP solver returns:

- *rows*: intervals of the variables contradict a row (rows of integer data, so all sums are exact);
- *multipliers*: for every ``y`` and every ``x`` in the box ``[l, u]`` of the node,

  .. math:: c x \\ge \\sum_i \\min(y_i L_i, y_i U_i) + \\sum_j \\min_{l_j \\le x_j \\le u_j} (c - A^T y)_j x_j

  (Neumaier and Shcherbina, *Safe bounds in linear and mixed-integer linear programming*, 2004), minus a bound on the
  rounding of that sum. HiGHS only proposes ``y``: duals of the LP, or the ray of an infeasible one.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regretless.milp import MILP, TOLERANCE, Floats
from regretless.solvers.answers import AnswerCheck, answer_check
from regretless.solvers.highs import bare_highs, highs_lp
from regretless.solvers.intervals import Intervals

EPSILON = 2.0**-52
SMALL = 500
# Without a step of the objective, answers are optimal up to this part of the objective's terms.
CLOSED_EXACT, CLOSED = 1e-9, 1e-6


@dataclass(frozen=True)
class Proof:
    """What the search found.

    Attributes:
        x: the best decision known, or ``None``.
        value: its objective; infinite where there is none.
        bound: a proven lower bound on the optimum.
        closed: whether nothing better exists (and, without a decision, nothing at all).
        late: whether the time limit ended the search.
    """

    x: Floats | None
    value: float
    bound: float
    closed: bool
    late: bool = False


class Prover:
    """Proves answers for one model, one objective after another.

    Args:
        milp: the model.
        nodes: most nodes per objective, so that the result does not depend on the clock; in proportion fewer where the
            model has more than 500 variables, rows and non-zeros.
    """

    def __init__(self, milp: MILP, *, nodes: int) -> None:
        self.check, self.integer = answer_check(milp), milp.integer
        check, size = self.check, milp.A.nnz + sum(milp.A.shape)
        self.nodes = nodes if size <= SMALL else math.ceil(nodes * SMALL / size)
        # Rows that are not of integer data are relaxed by the tolerance that their answers are allowed.
        self.low, self.high = (
            np.where(check.exact, bound, bound - sign * TOLERANCE * np.maximum(1.0, np.abs(bound)))
            for bound, sign in ((check.low, 1.0), (check.high, -1.0))
        )
        self._at = check.rows.T.tocsr()
        self._absolute = abs(self._at)
        rows, n = check.rows.shape
        self._rounding = 4.0 * (rows + n + 4) * EPSILON
        self._closed = CLOSED_EXACT if bool(check.exact.all()) and bool(self.integer.all()) else CLOSED
        self._intervals = Intervals(check)
        self._lp = _Relaxation(check, self.low, np.maximum(self.low, self.high))

    def prove(self, objective: Floats, x: Floats | None, *, deadline: float | None = None) -> Proof:
        """Search for something better than ``x`` until nothing is left, or until nodes or time are used up.

        Args:
            objective: ``(n,)`` to minimize.
            x: a feasible decision, or ``None``.
            deadline: by ``time.monotonic``, or ``None``.
        """
        # as in 6 x + 36 y = 5, where divisors leave no integer point, or 0.2 <= x <= 0.8
        if (self.low > self.high).any() or (self.check.lower > self.check.upper).any():
            return Proof(None, np.inf, np.inf, closed=True)
        if x is not None and not objective.any():
            return Proof(x, 0.0, 0.0, closed=True)
        step, scale = objective_step(objective, self.integer), _scale(objective)
        proof = self._search(objective * scale, x, step * scale, deadline)
        return replace(proof, value=proof.value / scale, bound=proof.bound / scale)

    def _search(self, objective: Floats, x: Floats | None, step: float, deadline: float | None) -> Proof:
        best, value = x, np.inf if x is None else float(objective @ x)
        self._lp.start(objective)
        stack = [(self.check.lower, self.check.upper, -np.inf)]
        unsettled = np.inf  # bounds of nodes that can neither be closed nor divided
        for _ in range(self.nodes):
            if not stack:
                break
            if deadline is not None and time.monotonic() > deadline:
                return Proof(best, value, min(unsettled, *(bound for *_, bound in stack)), False, late=True)
            lower, upper, bound = stack.pop()
            if bound >= self._enough(objective, best, value, step):
                continue
            box = self._intervals.tightened(lower, upper)
            if box is None:
                continue
            lower, upper = box
            point, y, feasible = self._lp.solve(lower, upper)
            if not feasible and y is not None and max(self._bound(s * y, 0.0 * objective, box)[0] for s in (1, -1)) > 0:
                continue
            if feasible and y is not None:
                safe, reduced = self._bound(y, objective, box)
                bound = max(bound, safe)
                if bound >= self._enough(objective, best, value, step):
                    continue
                # rounding is worth a try only as long as there is nothing
                candidate = point if best is not None else np.where(self.integer, np.round(point), point)
                found = self.check.settled(candidate, TOLERANCE)
                if found is not None and objective @ found < self._enough(objective, best, value, step):
                    best, value = found, float(objective @ found)
                if bound >= self._enough(objective, best, value, step):
                    continue
                lower, upper = self._without_costly(reduced, box, value - safe)
            halves = _divided(self.integer, lower, upper, point)
            if halves is None:
                unsettled = min(unsettled, bound)
            else:
                stack += [(*half, bound) for half in halves]
        bound = min([unsettled, *(bound for *_, bound in stack)])
        return Proof(best, value, value if bound == np.inf else min(bound, value), bound == np.inf)

    def _enough(self, objective: Floats, best: Floats | None, value: float, step: float) -> float:
        """The bound from which on a node holds nothing better than the best decision."""
        if best is None:
            return np.inf
        if step:
            return value - 0.999 * step
        return value - self._closed * float(np.abs(objective) @ np.maximum(1.0, np.abs(best)))

    def _bound(self, y: Floats, objective: Floats, box: tuple[Floats, Floats]) -> tuple[float, Floats]:
        """Lower bound of the objective over a box by multipliers ``y``, and the reduced costs."""
        y = np.where(((y > 0) & np.isinf(self.low)) | ((y < 0) & np.isinf(self.high)), 0.0, y)
        sides = y * np.where(y > 0, self.low, np.where(y < 0, self.high, 0.0))
        reduced = objective - self._at @ y
        lower, upper = box
        at = np.where(reduced > 0, lower, upper)
        sizes = np.abs(objective) + self._absolute @ np.abs(y)
        # On a variable without a bound a reduced cost below rounding is zero.
        zero = (reduced == 0) | (np.isinf(at) & (np.abs(reduced) <= CLOSED_EXACT * sizes))
        at = np.where(zero, 0.0, at)
        if np.isinf(at).any():
            return -np.inf, reduced
        largest = np.maximum(np.abs(lower), np.abs(upper))
        terms = float(np.abs(sides).sum() + sizes @ np.where(np.isinf(largest), np.abs(at), largest))
        return float(sides.sum() + reduced @ at) - self._rounding * terms, reduced

    def _without_costly(self, reduced: Floats, box: tuple[Floats, Floats], room: float) -> tuple[Floats, Floats]:
        """Cut values off that cost more than the room up to the best decision."""
        lower, upper = box
        if not np.isfinite(room):
            return box
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(self.integer, np.floor(room / np.abs(reduced) + TOLERANCE), np.inf)
            return (
                np.where((reduced < 0) & np.isfinite(upper), np.maximum(lower, upper - most), lower),
                np.where((reduced > 0) & np.isfinite(lower), np.minimum(upper, lower + most), upper),
            )


class _Relaxation:
    """The LP relaxation in HiGHS, solved for one box after another."""

    def __init__(self, check: AnswerCheck, low: Floats, high: Floats) -> None:
        self._highspy, self._highs = bare_highs("prove answers of models with large integers")
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._highs.setOptionValue(name, 1e-9)
        self._highs.passModel(highs_lp(self._highspy, check.rows, low, high, check.lower, check.upper))
        self._columns = np.arange(check.rows.shape[1], dtype=np.int32)

    def start(self, objective: Floats) -> None:
        """Begin with another objective, and without a basis: a proof depends on its own objective alone."""
        self._highs.clearSolver()
        self._highs.changeColsCost(len(objective), self._columns, objective)

    def solve(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats | None, bool]:
        """Return a point to divide the box at, multipliers where there are some, and whether the LP is feasible."""
        highs, kinds = self._highs, self._highspy.HighsModelStatus
        highs.changeColsBounds(len(lower), self._columns, lower, upper)
        highs.run()
        status = highs.getModelStatus()
        if status in (kinds.kOptimal, kinds.kModelEmpty):
            solution = highs.getSolution()
            return np.asarray(solution.col_value), np.asarray(solution.row_dual), True
        with np.errstate(invalid="ignore"):
            middle = np.nan_to_num((lower + upper) / 2, nan=0.0, posinf=0.0, neginf=0.0)
        y = None
        if status == kinds.kInfeasible:
            _, has_ray, ray = highs.getDualRay()
            y = np.asarray(ray) if has_ray else None
        return middle, y, False


def _scale(objective: Floats) -> float:
    """A power of two that raises small costs to about 1: those below the LP solver's tolerance count as zero there."""
    largest = float(np.abs(objective).max(initial=0.0))
    return 1.0 if largest == 0.0 or largest >= 1.0 else 2.0 ** min(-int(np.frexp(largest)[1]), 1000)


def objective_step(objective: Floats, integer: Any) -> float:
    """The step between objectives of two integer points, such as 1 for integer costs; 0 where there is none.

    >>> objective_step(np.array([0.5, -1.5, 2.0]), np.array([True, True, True]))
    0.5
    """
    used = objective[objective != 0]
    if not used.size or objective[~integer].any():
        return 0.0
    largest = float(np.abs(used).max())
    dyadic = 2.0 ** (30 - np.frexp(largest)[1])
    for scale in (1.0, 10.0, 100.0, 1000.0, dyadic):
        units = np.round(used * scale)
        if largest * scale < 2.0**40 and (units / scale == used).all():
            return float(np.gcd.reduce(np.abs(units).astype(np.int64)) / scale)
    return 0.0


def _divided(integer: Any, lower: Floats, upper: Floats, point: Floats) -> list[tuple[Floats, Floats]] | None:
    """Divide a box at an integer variable, the half nearer to the point last; ``None`` where none is left to divide."""
    open_ = integer & (upper > lower)
    if not open_.any():
        return None
    fraction = np.abs(point - np.round(point))
    j = int(np.where(open_, fraction, -1.0).argmax())
    if fraction[j] <= TOLERANCE:  # an integer point that is not feasible, or not the best: divide the widest
        j = int(np.where(open_, upper - lower, -1.0).argmax())
    cut = float(np.clip(np.floor(point[j] + EPSILON), lower[j], upper[j] - 1.0))
    below, above = upper.copy(), lower.copy()
    below[j], above[j] = cut, cut + 1.0
    halves = [(lower, below), (above, upper)]
    return halves if point[j] - cut > 0.5 else halves[::-1]
