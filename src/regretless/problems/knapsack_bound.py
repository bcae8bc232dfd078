"""The knapsack's own bound: its linear relaxation in closed form."""

from __future__ import annotations

import torch
from numpy.typing import ArrayLike
from torch import Tensor


class KnapsackBound:
    """Dantzig's bound: fill the knapsack by cost per weight, the item that no longer fits in part.

    This is the best Lagrangian bound there is for one row, found by a sort instead of a search for its multiplier.

    Args:
        weights: ``(n,)`` positive.
        capacity: at least 0.

    >>> KnapsackBound([3, 4, 5], 7)(torch.tensor([[-4.0, -5.0, -6.0]]), None).tolist()
    [-9.0]
    """

    def __init__(self, weights: ArrayLike, capacity: float) -> None:
        self._weights = torch.as_tensor(weights, dtype=torch.float64)
        self._capacity = float(capacity)

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Bounds ``(batch,)`` at minimising costs ``(batch, n)``."""
        if self._weights.device != costs.device:
            self._weights = self._weights.to(costs.device)
        ratio, order = (costs / self._weights).clamp(max=0.0).sort(dim=1)
        weight = self._weights[order]
        # What is left before each item is taken of it: nothing, a part, or all.
        taken = torch.minimum((self._capacity - weight.cumsum(dim=1) + weight).clamp_(min=0.0), weight)
        return (ratio * taken).sum(dim=1)
