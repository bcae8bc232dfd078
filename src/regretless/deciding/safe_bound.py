"""A lower bound of a model from any row multipliers, valid whatever their source is."""

from __future__ import annotations

import threading
from collections import deque

import numpy as np

from regretless.milp import MILP, Floats

KEPT = 16
NOISE = 1e-12
# Sums of float64 products: a bound must not lie above the optimum by their rounding.
ROUNDING = 1e-12
CANCELLED = 16 * float(np.finfo(np.float64).eps)
ROUNDED = 1e-9


def safe_bound(milp: MILP, objective: Floats, multipliers: Floats) -> float:
    r"""Largest Lagrangian bound on ``min objective . x`` over the rows of ``multipliers`` ``(k, rows)``.

    .. math:: \sum_i y_i b_i + \sum_j \min_{l_j \le x_j \le u_j} (c_j - a_j^T y) x_j

    with :math:`b_i` the lower bound of row i where :math:`y_i > 0` and the upper bound where :math:`y_i < 0`. It holds
    for every ``y``, so inexact multipliers make it weaker and never wrong. With those of the linear relaxation at the
    same costs it is the value of the relaxation.

    Returns:
        The bound, without the constant of the model; minus infinity where there is none.
    """
    lower, upper = milp.integer_bounds()
    bad = ((multipliers > 0) & np.isneginf(milp.row_lower)) | ((multipliers < 0) & np.isposinf(milp.row_upper))
    noise = NOISE * np.abs(multipliers).max(axis=1, initial=0.0, keepdims=True)
    y = np.where(bad | (np.abs(multipliers) <= noise), 0.0, multipliers)
    active = np.where(y > 0, milp.row_lower, np.where(y < 0, milp.row_upper, 0.0))
    reduced = objective - (milp.A.T @ y.T).T
    size = np.abs(objective) + (abs(milp.A).T @ np.abs(y).T).T
    # Towards an infinite bound, a reduced cost of zero that is off by rounding would make the bound infinite.
    infinite = ((reduced > 0) & np.isneginf(lower)) | ((reduced < 0) & np.isposinf(upper))
    reduced = np.where(infinite & (np.abs(reduced) <= ROUNDED * size), 0.0, reduced)
    with np.errstate(invalid="ignore"):
        parts = np.where(reduced > 0, reduced * lower, np.where(reduced < 0, reduced * upper, 0.0))
    rows = y * active
    bounds = rows.sum(axis=1) + parts.sum(axis=1)
    bounds = bounds - ROUNDING * (np.abs(rows).sum(axis=1) + np.abs(parts).sum(axis=1))
    # Where the terms of a reduced cost cancel, its rounding is relative to them.
    reach = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (lower, upper)))
    bounds = bounds - CANCELLED * (size @ reach)
    bounds = bounds[np.isfinite(bounds)]
    return float(bounds.max()) if len(bounds) else -np.inf


class Multipliers:
    """Row multipliers of earlier requests, for costs of unit size; threads may use it at the same time."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self._kept: deque[Floats] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    def add(self, y: Floats, objective: Floats) -> None:
        """Keep the multipliers of the relaxation at an objective."""
        size = float(np.abs(objective).sum())
        if y.shape == (self.rows,) and size > 0:
            with self._lock:
                self._kept.append(y / size)

    def scaled_to(self, objective: Floats) -> Floats:
        """All multipliers ``(k, rows)``, in the size of an objective; zeros are always among them."""
        with self._lock:
            kept = list(self._kept)
        return np.stack([np.zeros(self.rows), *kept]) * float(np.abs(objective).sum())
