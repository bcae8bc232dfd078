"""The lower bound of the knapsack: its linear relaxation in closed form."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor


class KnapsackBound:
    """Dantzig's bound: fill the knapsack by cost per weight, and take a fraction of the item that no longer fits.

    This is the best Lagrangian bound for one row, computed by a sort instead of a search for its multiplier.

    Args:
        weights: ``(n,)`` positive.
        capacity: at least 0.

    >>> KnapsackBound([3, 4, 5], 7)(torch.tensor([[-4.0, -5.0, -6.0]]), None).tolist()
    [-9.0]
    """

    def __init__(self, weights: ArrayLike, capacity: float) -> None:
        self._weights = np.asarray(weights, dtype=np.float64)
        self._capacity = float(capacity)

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Bounds ``(batch,)`` at minimization costs ``(batch, n)``."""
        # In numpy: at this size its sort takes a third of the time of torch, and the gap is needed on the CPU anyway.
        ratio = np.minimum(costs.detach().cpu().numpy() / self._weights, 0.0)
        order = ratio.argsort(axis=1)
        weight = self._weights[order]
        # The capacity left before each item decides how much of it is taken: nothing, a part, or all.
        taken = np.minimum(np.maximum(self._capacity - weight.cumsum(axis=1) + weight, 0.0), weight)
        order += np.arange(0, ratio.size, ratio.shape[1])[:, None]
        bounds = np.einsum("ij,ij->i", ratio.ravel()[order], taken)
        return torch.from_numpy(bounds).to(costs.device)
