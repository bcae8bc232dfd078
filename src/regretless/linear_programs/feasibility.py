"""What the feasible set of a linear program says for all costs: whether it is empty, and its directions to infinity.

The directions tell unbounded programs from difficult ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import Bounds, LinearConstraint
from scipy.optimize import milp as scipy_milp
from torch import Tensor

from regretless.milp import MILP, with_infinities

OPTIMAL, INFEASIBLE = 0, 2
# Objective along a ray in a box of size 1, relative to the largest cost, that proves an unbounded program.
FALLS = -1e-6


def is_feasible(milp: MILP) -> bool | None:
    """Say whether the relaxation of a model has a feasible point; ``None`` where HiGHS of scipy does not tell."""
    rows = LinearConstraint(milp.A, with_infinities(milp.row_lower), with_infinities(milp.row_upper))
    bounds = Bounds(with_infinities(milp.lower), with_infinities(milp.upper))
    result = scipy_milp(np.zeros(milp.n), constraints=rows if milp.A.shape[0] else None, bounds=bounds)
    return {OPTIMAL: True, INFEASIBLE: False}.get(result.status)


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
