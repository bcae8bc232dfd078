"""Which facilities to open, and which of them serves which customer."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from regretless.milp import MILP, Floats


def facility_milp(demands: Floats, capacities: Floats, opening_costs: Floats) -> MILP:
    """``min sum_ij c_ij x_ij + sum_j f_j y_j`` with predicted ``c`` and known ``f``.

    Every customer i is served, ``sum_j x_ij = 1``, by open facilities, ``x_ij <= y_j``, within their capacities,
    ``sum_i demand_i x_ij <= capacity_j y_j``. A customer may be shared by several facilities; ``y`` is binary.

    Args:
        demands: ``(customers,)``.
        capacities: ``(facilities,)``.
        opening_costs: ``(facilities,)`` known costs f.

    Returns:
        The model; its variables are all x, customer by customer, then y.
    """
    n, m = len(demands), len(capacities)
    served = sparse.kron(sparse.eye_array(n), np.ones((1, m)))
    load = sparse.kron(demands[None], sparse.eye_array(m))
    of_facility = sparse.kron(np.ones((n, 1)), sparse.eye_array(m))
    blocks: Any = [[served, None], [load, -sparse.diags_array(capacities)], [sparse.eye_array(n * m), -of_facility]]
    return MILP(
        sparse.block_array(blocks),
        row_lower=np.concatenate([np.ones(n), np.full(m + n * m, -np.inf)]),
        row_upper=np.concatenate([np.ones(n), np.zeros(m + n * m)]),
        integer=np.arange(n * m + m) >= n * m,
        cost_map=sparse.hstack([sparse.eye_array(n * m), sparse.csr_array((n * m, m))]),
        fixed_cost=np.concatenate([np.zeros(n * m), opening_costs]),
    )
