"""Predictions in the units of the costs, so that one learning rate serves cents and millions alike."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class CostScale(nn.Module):
    r"""Bring a model's output to the scale of the training costs, which is kept with the weights.

    .. math:: \hat c = \mu + \sigma \, m(x)

    Args:
        inner: maps features to ``(batch, d)``.
        mean: ``(d,)`` or ``()``: what the untrained model predicts on average.
        scale: ``()``, one for all costs, since decisions compare them with each other.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, inner: nn.Module, mean: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.inner = inner
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)

    def forward(self, x: Tensor) -> Tensor:
        """Predict costs."""
        out: Tensor = self.mean + self.scale * self.inner(x)
        return out


def with_cost_scale(inner: nn.Module, costs: Tensor, *, shared: bool) -> nn.Module:
    """Wrap a model in the scale of its training costs.

    Args:
        inner: the model.
        costs: ``(n, d)`` training costs.
        shared: one mean for all costs, where one model is shared by all of them; else a mean for each.
    """
    dtype = torch.get_default_dtype()
    mean = costs.mean() if shared else costs.mean(dim=0)
    deviation = costs.std(correction=0)
    # Costs that never change have no scale of their own.
    scale = torch.where(deviation > 1e-12, deviation, torch.ones_like(deviation))
    # A shared mean still has d entries, so that weights fit whatever the features were.
    return CostScale(inner, mean.expand(costs.shape[1]).to(dtype).clone(), scale.to(dtype))
