"""Reduce a MILP to a relaxation with a strict interior: without redundant rows, with implied equalities as such."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from regretless.errors import SolveError
from regretless.linear_programs.constraint_system import ConstraintSystem
from regretless.linear_programs.redundant_rows import without_redundant_rows
from regretless.linear_programs.self_dual import solve_self_dual
from regretless.linear_programs.standard_form import StandardForm
from regretless.milp import MILP
from regretless.types import Status

# A distance to a bound below this value at the analytic center of the feasible set is zero in the entire set.
IMPLIED = 1e-7


def presolve(milp: MILP) -> tuple[ConstraintSystem, StandardForm]:
    """Reduce the relaxation of a MILP, once for all costs.

    The self-dual embedding is solved with zero costs. It ends near the analytic center of the feasible set, where
    exactly the bounds that always hold with equality have no distance. They become equalities, so that the remaining
    constraints have an interior; all later solves start at the center.

    Raises:
        SolveError: the relaxation is infeasible.
    """
    system = without_redundant_rows(ConstraintSystem.of(milp).reduced())
    while True:
        form = StandardForm.of(system)
        n, equalities = form.n, form.equalities
        if n == 0:
            return system, form
        center, (status,) = solve_self_dual(form, torch.zeros(1, n, dtype=torch.float64))
        if status is not Status.OPTIMAL:
            raise SolveError(
                f"the linear relaxation of the model has no feasible point ({status}). Check the constraints, for "
                "example by solving the model once with an exact engine, which may name the conflict."
            )
        low = ((form.has_lower > 0) & (center.below[0] < IMPLIED) & (center.below[0] < center.low[0])).numpy()
        high = ((form.has_upper > 0) & (center.above[0] < IMPLIED) & (center.above[0] < center.high[0])).numpy()
        if not (low | high).any():
            return system, StandardForm.of(system, start=center.z[0, :n].numpy())
        order = np.argsort(system.row_lower != system.row_upper, kind="stable")[equalities:]
        row_lower, row_upper = system.row_lower.copy(), system.row_upper.copy()
        row_upper[order[low[n:]]] = row_lower[order[low[n:]]]
        row_lower[order[high[n:]]] = row_upper[order[high[n:]]]
        system = replace(system, row_lower=row_lower, row_upper=row_upper)
        system = without_redundant_rows(system.without_fixed(at_lower=low[:n], at_upper=high[:n]).reduced())
