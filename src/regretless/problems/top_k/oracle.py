"""The best k items, by a sort."""

from __future__ import annotations

import torch
from torch import Tensor

from regretless.types import Solved


class TopKOracle:
    """Exact choice of ``k`` items, batched, on the device of the costs."""

    def __init__(self, k: int) -> None:
        self.k = k

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, items)`` costs to minimize; see ``regretless.types.Backend``."""
        best = costs.argsort(dim=1, stable=True)[:, : self.k]  # of equal items the first
        solution = torch.zeros(costs.shape, dtype=torch.float64, device=costs.device)
        return Solved(solution.scatter_(1, best, 1.0), finite=True)
