"""Directions of a feasible set to infinity: they tell unbounded linear programs from difficult ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from torch import Tensor

from regretless.milp import MILP, with_infinities

# Objective along a ray in a box of size 1, relative to the largest cost, that proves an unbounded program.
FALLS = -1e-6


def rays(milp: MILP) -> MILP | None:
    """Directions of the feasible set to infinity, in a box of size 1; ``None`` where all variables are bounded."""
    lower, upper = np.isfinite(with_infinities(milp.lower)), np.isfinite(with_infinities(milp.upper))
    if bool((lower & upper).all()):
        return None
    return replace(
        milp,
        row_lower=np.where(np.isfinite(with_infinities(milp.row_lower)), 0.0, -np.inf),
        row_upper=np.where(np.isfinite(with_infinities(milp.row_upper)), 0.0, np.inf),
        lower=np.where(lower, 0.0, -1.0),
        upper=np.where(upper, 0.0, 1.0),
        integer=False,
    )


def falls(c: Tensor, ray: Tensor) -> Tensor:
    """Mask ``(batch,)`` of the costs ``(batch, n)`` that fall along rays ``(batch, n)``."""
    largest = c.abs().amax(dim=1).clamp(min=1e-300)
    return (c * ray).sum(dim=1) / largest < FALLS
