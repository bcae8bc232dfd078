"""The constraints of a relaxation as dense arrays, and the reductions that use a single row or variable."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from regretless.errors import SolveError
from regretless.milp import MILP, Floats, with_infinities

TINY = 1e-9
# Larger bounds stand for infinity: in their units, float64 has no digits for the distances to the other bounds.
HUGE = 1e12
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ConstraintSystem:
    """``row_lower <= A x <= row_upper``, ``lower <= x <= upper``; the full decision is ``offset`` plus ``x``.

    Attributes:
        A: ``(rows, kept)`` dense.
        row_lower, row_upper: ``(rows,)``.
        lower, upper: ``(kept,)``; finite lower bounds are 0 after ``shifted``.
        keep: ``(kept,)`` columns of the MILP that are still variables.
        offset: ``(n,)`` the shift of the kept variables, and the values of the others.
    """

    A: Floats
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    keep: NDArray[np.int64]
    offset: Floats

    @classmethod
    def of(cls, milp: MILP) -> ConstraintSystem:
        """Take the constraints of a MILP without its integrality."""
        row_lower, row_upper = without_huge(milp.row_lower, milp.row_upper)
        lower, upper = without_huge(milp.lower, milp.upper)
        return cls(milp.A.toarray(), row_lower, row_upper, lower, upper, np.arange(milp.n), np.zeros(milp.n))

    def rows(self, chosen: Mask) -> ConstraintSystem:
        """Keep the chosen rows."""
        return replace(self, A=self.A[chosen], row_lower=self.row_lower[chosen], row_upper=self.row_upper[chosen])

    def shifted(self) -> ConstraintSystem:
        """Shift every variable so that its smallest finite bound is 0."""
        shift = np.where(np.isfinite(self.lower), self.lower, np.where(np.isfinite(self.upper), self.upper, 0.0))
        return replace(self._moved(slice(None), shift), lower=self.lower - shift, upper=self.upper - shift)

    def without_fixed(self, at_upper: Mask | None = None, at_lower: Mask | None = None) -> ConstraintSystem:
        """Remove variables whose bounds are equal, and the given variables at the given bound."""
        width = self.upper - self.lower
        meet = width <= TINY * np.maximum(1.0, np.abs(np.where(np.isfinite(self.upper), self.upper, 0.0)))
        low = meet if at_lower is None else meet | at_lower
        high = np.zeros_like(low) if at_upper is None else at_upper & ~low
        out = low | high
        if not out.any():
            return self
        value = np.where(high, self.upper, np.where(np.isfinite(self.lower), self.lower, 0.0))
        kept = self._moved(out, value[out])
        return replace(kept, A=self.A[:, ~out], lower=self.lower[~out], upper=self.upper[~out], keep=self.keep[~out])

    def _moved(self, columns: Mask | slice, value: Floats) -> ConstraintSystem:
        """Add ``value`` to the offset of some columns, and move the bounds of the rows accordingly."""
        offset = self.offset.copy()
        offset[self.keep[columns]] += value
        move = self.A[:, columns] @ value
        return replace(self, row_lower=self.row_lower - move, row_upper=self.row_upper - move, offset=offset)

    def without_short_rows(self) -> ConstraintSystem:
        """Drop rows without variables or without bounds, and turn rows with one variable into its bounds."""
        count = np.count_nonzero(self.A, axis=1)
        wrong = (count == 0) & ((self.row_lower > TINY) | (self.row_upper < -TINY))
        if wrong.any():
            raise SolveError(
                "the relaxation is infeasible: a row without variables needs a value between "
                f"{self.row_lower[wrong][0]:g} and {self.row_upper[wrong][0]:g}. Check the bounds of the model."
            )
        lower, upper = self.lower.copy(), self.upper.copy()
        for row in np.flatnonzero(count == 1):
            column = int(np.flatnonzero(self.A[row])[0])
            ends = sorted((self.row_lower[row] / self.A[row, column], self.row_upper[row] / self.A[row, column]))
            lower[column], upper[column] = max(lower[column], ends[0]), min(upper[column], ends[1])
        bound = np.isfinite(self.row_lower) | np.isfinite(self.row_upper)
        return replace(self, lower=lower, upper=upper).rows((count > 1) & bound).checked()

    def checked(self) -> ConstraintSystem:
        """Refuse contradictory bounds; make bounds equal that cross by a rounding error only."""
        for low, high, what in ((self.lower, self.upper, "variable"), (self.row_lower, self.row_upper, "row")):
            gap = low - high
            scale = np.maximum(1.0, np.abs(np.where(np.isfinite(low), low, 0.0)))
            if (gap > TINY * scale).any():
                i = int(np.argmax(gap > TINY * scale))
                where = f"variable {int(self.keep[i])}" if what == "variable" else f"a {what}"
                raise SolveError(
                    f"the relaxation is infeasible: {where} is forced above {low[i]:g} and below {high[i]:g}. "
                    "Check the constraints of the model."
                )
        row_upper = np.maximum(self.row_upper, self.row_lower)
        return replace(self, upper=np.maximum(self.upper, self.lower), row_upper=row_upper)

    def reduced(self) -> ConstraintSystem:
        """Repeat these reductions until nothing changes."""
        system = self
        while True:
            shape = system.A.shape
            system = system.without_short_rows().without_fixed().shifted()
            if system.A.shape == shape:
                return system


def without_huge(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Lower and upper bounds, infinite where they stand for infinity; equal bounds are a value and stay."""
    lower, upper = with_infinities(lower), with_infinities(upper)
    apart = lower < upper
    return np.where(apart & (lower <= -HUGE), -np.inf, lower), np.where(apart & (upper >= HUGE), np.inf, upper)


def has_huge(milp: MILP) -> bool:
    """Whether a model has finite bounds that stand for infinity."""
    for lower, upper in ((milp.lower, milp.upper), (milp.row_lower, milp.row_upper)):
        for given, used in zip((lower, upper), without_huge(lower, upper), strict=True):
            if (np.isinf(used) & np.isfinite(with_infinities(given))).any():
                return True
    return False
