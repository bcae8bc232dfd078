"""Bounds of variables that follow from rows: sums of integers are exact, so no value is lost to rounding."""

from __future__ import annotations

import numpy as np

from regretless.milp import TOLERANCE, Floats
from regretless.solvers.answers import AnswerCheck

LARGEST_DENSE = 50_000  # entries of the row matrix up to which this pays
ROUNDS = 4


class Intervals:
    """Tightens boxes by the rows of integer data; models with too many entries keep their boxes."""

    def __init__(self, check: AnswerCheck) -> None:
        used = check.exact & bool(check.rows.shape[0] * check.rows.shape[1] <= LARGEST_DENSE)
        A = check.rows[used].toarray()
        self.low, self.high = check.low[used], check.high[used]
        self.plus, self.minus = np.maximum(A, 0.0), np.minimum(A, 0.0)
        self.divisor, self.up, self.used = np.where(A == 0, 1.0, A), A > 0, A != 0

    def tightened(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats] | None:
        """Return a box without values that a row excludes; ``None`` where nothing is left."""
        if not len(self.low) or not (np.isfinite(lower).all() and np.isfinite(upper).all()):
            return lower, upper
        if (self.low > self.high).any():
            return None
        for _ in range(ROUNDS):
            least, most = self.plus * lower + self.minus * upper, self.plus * upper + self.minus * lower
            least_sum, most_sum = least.sum(axis=1), most.sum(axis=1)
            if (least_sum > self.high).any() or (most_sum < self.low).any():
                return None
            by_high = (self.high[:, None] - (least_sum[:, None] - least)) / self.divisor
            by_low = (self.low[:, None] - (most_sum[:, None] - most)) / self.divisor
            highest = np.where(self.used, np.where(self.up, by_high, by_low), np.inf).min(axis=0)
            lowest = np.where(self.used, np.where(self.up, by_low, by_high), -np.inf).max(axis=0)
            new_lower = np.maximum(lower, np.ceil(lowest - TOLERANCE))
            new_upper = np.minimum(upper, np.floor(highest + TOLERANCE))
            if (new_lower > new_upper).any():
                return None
            if (new_lower == lower).all() and (new_upper == upper).all():
                break
            lower, upper = new_lower, new_upper
        return lower, upper
