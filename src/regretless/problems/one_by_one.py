"""Solve a batch by a function of one instance, for exact oracles that cannot share work between instances."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from regretless.milp import Floats
from regretless.solvers.engine import Outcome
from regretless.solvers.highs import ProgramError
from regretless.types import Solved, Status

POWER = 20
LARGEST = 2.0**POWER


def one_by_one(solve: Callable[[Floats], Outcome], costs: Tensor) -> Solved:
    """Return the outcomes of ``solve`` for ``(batch, d)`` costs; an outcome's ``x`` is the solution in cost space.

    A ``ProgramError`` of ``solve`` is an outcome as well.

    Costs are scaled by a power of two for ``solve``, to at most ``LARGEST``. The solver's
    tolerances are absolute: at this size they are small also beside the differences of costs that are nearly equal, and
    beside costs that are small compared with the penalty of a forbidden edge.
    """
    rows = costs.detach().cpu().to(torch.float64).numpy()
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    outcomes = [_outcome(solve, row) for row in np.ldexp(rows, POWER - np.frexp(largest)[1])]
    solution = np.stack([np.full(rows.shape[1], np.nan) if o.x is None else o.x for o in outcomes])
    message = {row: outcome.message for row, outcome in enumerate(outcomes) if outcome.message}
    return Solved.of_arrays(costs.device, solution, [o.status for o in outcomes], [o.gap for o in outcomes], message)


def _outcome(solve: Callable[[Floats], Outcome], costs: Floats) -> Outcome:
    try:
        return solve(costs)
    except ProgramError as error:
        return Outcome(None, Status.ERROR, np.inf, str(error))
