"""The matching's own bound: assignment, with one multiplier where it breaks a side row."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.problems.matching.formulation import check_shares
from regretless.problems.matching.instances import Bools
from regretless.problems.matching.lagrange import Side, assign, best_multiplier, value


class MatchingBound:
    """No feasible matching gains more than the best assignment, nor than that of the gains with a priced side row.

    An assignment a cost, and a few more where it breaks a side row: no MIP.

    Args:
        same: ``(instances, left, right)`` masks of pairs that share their field.
        p: least share of pairs of one field.
        q: least share of pairs of two fields.
    """

    def __init__(self, same: Bools, p: float, q: float) -> None:
        check_shares(p, q)
        if same.ndim != 3:
            raise InputError(f"same must have shape (instances, left, right), got {same.shape}")
        self.sides = tuple(Side(np.ascontiguousarray(one, dtype=bool), p, q) for one in same)
        self.shape: tuple[int, int] = (same.shape[1], same.shape[2])

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Bounds ``(batch,)`` at minimising costs ``(batch, left * right)``."""
        gains = -costs.detach().cpu().to(torch.float64).numpy().reshape(len(costs), *self.shape)
        ids = [0] * len(gains) if instance is None else instance.tolist()
        bounds = np.zeros(len(gains))
        for k, (gain, index) in enumerate(zip(gains, ids, strict=True)):
            top = float(gain.max())
            if top > 0:  # otherwise no pair is worth making
                side, scaled = self.sides[index], gain / top
                partners = assign(scaled)
                if not side.holds(*side.counts(partners)):
                    scaled = best_multiplier(scaled, side, partners).shifted
                    partners = assign(scaled)
                bounds[k] = -top * value(scaled, partners)
        return torch.as_tensor(bounds, device=costs.device)
