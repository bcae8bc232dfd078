"""Whether a linear program has a feasible point, decided once for all costs by HiGHS as scipy ships it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint
from scipy.optimize import milp as scipy_milp

from regretless.milp import MILP, with_infinities

OPTIMAL, INFEASIBLE = 0, 2


def is_feasible(milp: MILP) -> bool | None:
    """Say whether the relaxation of a model has a feasible point; ``None`` where HiGHS does not tell."""
    rows = LinearConstraint(milp.A, with_infinities(milp.row_lower), with_infinities(milp.row_upper))
    bounds = Bounds(with_infinities(milp.lower), with_infinities(milp.upper))
    result = scipy_milp(np.zeros(milp.n), constraints=rows if milp.A.shape[0] else None, bounds=bounds)
    return {OPTIMAL: True, INFEASIBLE: False}.get(result.status)
