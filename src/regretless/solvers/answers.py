"""Answers of engines and functions are rounded and checked here, once, whichever solver they come from.

Solvers work with tolerances: an integer variable may come back as 2.9999999, and with large numbers a row of integers
may be violated by one or more. Here integers become integers, and rows of integer data are checked without a tolerance.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from regretless.milp import MILP, TOLERANCE, Floats

# Engines may use their own tolerance of 1e-6 several times over; only what it does not explain is refused.
ENGINE_TOLERANCE = 1e-4
LARGEST_EXACT = 2.0**53


class AnswerCheck:
    """Rounds and checks decisions for one model.

    Attributes:
        rows: ``(rows, n)``, those of integer data scaled to integers without a common divisor.
        low, high: their bounds: integers, rounded inwards, for rows of integer data; all others as in the model.
        exact: ``(rows,)`` mask of the rows of integer data: integer variables and coefficients that are integers or
            decimals of up to three places, with sums that float64 holds exactly.
        lower, upper: bounds of the variables, rounded inwards for integer variables.
        reach: the largest sum of ``|coefficient| * range`` over a row of integer data, in the row's own units.
    """

    def __init__(self, milp: MILP) -> None:
        self.integer = integer = milp.integer
        self.lower = np.where(integer, np.ceil(milp.lower - TOLERANCE), milp.lower) + 0.0
        self.upper = np.where(integer, np.floor(milp.upper + TOLERANCE), milp.upper) + 0.0
        row_of = np.repeat(np.arange(milp.A.shape[0]), np.diff(milp.A.indptr))
        self.exact = milp.integer_scale > 0
        scale = np.where(self.exact, milp.integer_scale, 1.0)
        self.rows = sparse.csr_array(milp.A, copy=True)
        self.rows.data = np.where(self.exact[row_of], np.round(self.rows.data * scale[row_of]), self.rows.data)
        largest = np.maximum(np.abs(self.lower), np.abs(self.upper))
        with np.errstate(invalid="ignore", over="ignore"):
            activity = abs(self.rows) @ np.where(np.isfinite(largest), largest, 0.0)
            self.exact &= activity < LARGEST_EXACT
            span = abs(self.rows) @ np.where(np.isfinite(largest), self.upper - self.lower, 0.0)
        self.reach = float(span[self.exact].max(initial=0.0))
        # 4 x + 6 y <= 7 is 2 x + 3 y <= 3
        common = _common_divisors(self.rows, self.exact)
        self.rows.data /= common[row_of]
        low, high = milp.row_lower * scale, milp.row_upper * scale
        self.low = np.where(self.exact, np.ceil((low - TOLERANCE) / common), low)
        self.high = np.where(self.exact, np.floor((high + TOLERANCE) / common), high)
        self._room_low, self._room_high = (
            np.where(self.exact | np.isinf(bound), 0.0, np.maximum(1.0, np.abs(bound))) for bound in (low, high)
        )

    def settled(self, x: Floats, tolerance: float = ENGINE_TOLERANCE) -> Floats | None:
        """Return a decision ``(n,)`` with integer values rounded, or ``None`` where it is not feasible.

        Args:
            x: the answer.
            tolerance: for integrality, bounds and rows that are not of integer data, relative to the bounds.
        """
        if not np.isfinite(x).all():
            return None
        point = np.clip(np.where(self.integer, np.round(x), x), self.lower, self.upper) + 0.0
        moved = np.abs(point - x) > tolerance * np.where(self.integer, 1.0, np.maximum(1.0, np.abs(point)))
        outside = (point < self.lower) | (point > self.upper)  # bounds that leave no integer
        if moved.any() or outside.any():
            return None
        activity = self.rows @ point
        below = activity < self.low - tolerance * self._room_low
        above = activity > self.high + tolerance * self._room_high
        return None if below.any() or above.any() else point


def _common_divisors(rows: sparse.csr_array, exact: NDArray[np.bool_]) -> Floats:
    """The greatest common divisor of each row of integers; 1 for all other rows."""
    used = np.flatnonzero(exact & (np.diff(rows.indptr) > 0))
    divisors = np.ones(len(exact))
    if used.size:
        parts = np.concatenate([np.arange(rows.indptr[i], rows.indptr[i + 1]) for i in used])
        starts = np.cumsum([0, *np.diff(rows.indptr)[used][:-1]])
        divisors[used] = np.gcd.reduceat(np.abs(rows.data[parts]).astype(np.int64), starts)
    return divisors


_checks: WeakKeyDictionary[MILP, AnswerCheck] = WeakKeyDictionary()


def answer_check(milp: MILP) -> AnswerCheck:
    """Return the check of a model, made once."""
    check = _checks.get(milp)
    if check is None:
        check = _checks[milp] = AnswerCheck(milp)
    return check
