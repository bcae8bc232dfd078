"""From a MILP to a relaxation with a strict interior: redundant rows out, implied equalities found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from regretless.errors import SolveError
from regretless.milp import MILP
from regretless.relaxation.redundancy import without_redundant_rows
from regretless.relaxation.self_dual import solve_self_dual
from regretless.relaxation.standard_form import StandardForm
from regretless.relaxation.system import System
from regretless.types import Status

# A distance to a bound that is under this at the analytic centre of the feasible set is zero everywhere in it.
IMPLIED = 1e-7


def presolve(milp: MILP) -> tuple[System, StandardForm]:
    """Reduce the relaxation of a MILP, once for all costs.

    The embedding is solved with no costs: it ends near the analytic centre of the feasible set, where exactly those
    bounds have no distance that hold with equality everywhere. They become equalities, so that what is left has an
    interior; the centre is where all later solves begin.

    Raises:
        SolveError: the relaxation is infeasible.
    """
    system = without_redundant_rows(System.of(milp).tidied())
    while True:
        form = StandardForm.of(system)
        n, equalities = form.n, form.equalities
        if n == 0:
            return system, form
        centre, (status,) = solve_self_dual(form, torch.zeros(1, n, dtype=torch.float64))
        if status is not Status.OPTIMAL:
            raise SolveError(
                f"the linear relaxation of the model has no feasible point ({status}). Check the constraints: "
                "for example solve the model once with an exact engine, which names the conflict where it can."
            )
        low = ((form.has_lower > 0) & (centre.below[0] < IMPLIED) & (centre.below[0] < centre.low[0])).numpy()
        high = ((form.has_upper > 0) & (centre.above[0] < IMPLIED) & (centre.above[0] < centre.high[0])).numpy()
        if not (low | high).any():
            return system, StandardForm.of(system, start=centre.z[0, :n].numpy())
        order = np.argsort(system.row_lower != system.row_upper, kind="stable")[equalities:]
        row_lower, row_upper = system.row_lower.copy(), system.row_upper.copy()
        row_upper[order[low[n:]]] = row_lower[order[low[n:]]]
        row_lower[order[high[n:]]] = row_upper[order[high[n:]]]
        system = replace(system, row_lower=row_lower, row_upper=row_upper)
        system = without_redundant_rows(system.fixed(at_lower=low[:n], at_upper=high[:n]).tidied())
