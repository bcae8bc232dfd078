"""Small random models with all their feasible decisions."""

from __future__ import annotations

import itertools

import numpy as np

from regretless.milp import MILP, Floats


def random_model(seed: int, *, n: int = 5, rows: int = 3) -> MILP:
    """Small integers in rows, some of them open on one side, and two to three values per variable."""
    chance = np.random.default_rng(seed)
    A = chance.integers(-4, 5, size=(rows, n)).astype(float)
    low = chance.integers(-6, 1, size=rows).astype(float)
    high = low + chance.integers(2, 10, size=rows)
    low[chance.random(rows) < 0.3] = -np.inf
    high[chance.random(rows) < 0.3] = np.inf
    return MILP(A, row_lower=low, row_upper=high, lower=chance.integers(-1, 1, size=n), upper=1.0)


def all_points(milp: MILP) -> Floats:
    """Every integer decision within the bounds of the variables."""
    ranges = [range(int(low), int(high) + 1) for low, high in zip(milp.lower, milp.upper, strict=True)]
    return np.array(list(itertools.product(*ranges)), dtype=float)
