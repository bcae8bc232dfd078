"""The knapsack with several rows, where few items fit at a time: all selections are compared at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from regretless.milp import Floats
from regretless.problems.feasible_sets import SetsOfSize, feasible_sets
from regretless.types import Solved

MOST_SETS = 1_000_000
BLOCK_VALUES = 8_000_000


class MultiKnapsackOracle:
    """Exact solver by enumeration, batched, on the device of the costs.

    A selection to which no further item can be added is never worse than its parts, so only those are compared: one
    matrix product gives the values of all of them. An item whose value is negative counts as zero there, and is left
    out of the answer.

    Args:
        weights: ``(rows, items)`` positive.
        capacities: ``(rows,)``.
    """

    def __init__(self, weights: Floats, capacities: Floats) -> None:
        maximal = _maximal(feasible_sets(weights, capacities, most=MOST_SETS), weights.shape[1])
        self._selections = torch.from_numpy(maximal).to(torch.float64)  # (selections, items)

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, items)`` costs to minimize; see ``regretless.types.Backend``."""
        value = (-costs.to(torch.float64)).clamp(min=0.0)
        selections = self._selections.to(value.device)
        parts = torch.split(value, max(1, BLOCK_VALUES // len(selections)))
        best = torch.cat([(part @ selections.T).argmax(dim=1) for part in parts])
        return Solved(selections[best] * (value > 0.0))


def _maximal(layers: list[SetsOfSize], items: int) -> Floats:
    """Incidence ``(selections, items)`` of the sets that are part of no other; the empty one where nothing fits."""
    maximal = [part.bits for part in layers[-1:]] or [np.zeros(1, dtype=np.int64)]
    for part, larger in pairwise(layers):
        inside = larger.bits[:, None] & ~(1 << larger.members)
        maximal.append(np.setdiff1d(part.bits, inside))
    return ((np.concatenate(maximal)[:, None] >> np.arange(items)) & 1).astype(np.float64)
