"""The lower bound of the matching: an assignment, with one multiplier if it violates a side row."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from regretless.problems.matching.cora_instances import Bools
from regretless.problems.matching.formulation import make_sides
from regretless.problems.matching.lagrangian import assign, best_multiplier, value


class MatchingBound:
    """The value of the best assignment, or of the best assignment with a priced side row, bounds every matching.

    It takes one assignment per cost vector, and a few more if a side row is violated, but no MIP.

    Args:
        same: ``(instances, left, right)`` masks of pairs that share their field.
        p: least share of pairs that share their field.
        q: least share of pairs that do not.
    """

    def __init__(self, same: Bools, p: float, q: float) -> None:
        self.sides = make_sides(same, p, q)
        self.shape: tuple[int, int] = (same.shape[1], same.shape[2])

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Bounds ``(batch,)`` at minimization costs ``(batch, left * right)``."""
        gains = -costs.detach().cpu().to(torch.float64).numpy().reshape(len(costs), *self.shape)
        ids = [0] * len(gains) if instance is None else instance.tolist()
        bounds = np.zeros(len(gains))
        for k, (gain, index) in enumerate(zip(gains, ids, strict=True)):
            top = float(gain.max())
            if top > 0:  # otherwise the empty matching is optimal
                side, scaled = self.sides[index], gain / top
                partners = assign(scaled)
                if not side.holds(*side.counts(partners)):
                    scaled = best_multiplier(scaled, side, partners).shifted
                    partners = assign(scaled)
                bounds[k] = -top * value(scaled, partners)
        return torch.as_tensor(bounds, device=costs.device)
