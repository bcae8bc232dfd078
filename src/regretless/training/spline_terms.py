"""Slopes that change along a feature, so that a linear layer over them is a sum of piecewise linear functions."""

from __future__ import annotations

from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from regretless.training.deviation import moments

KNOTS = 6  # per feature


@final
class SplineTerms(nn.Module):
    r"""Append linear splines of the first k inputs: ``(..., w) -> (..., w + 6 k)``.

    .. math:: x \mapsto (x, \max(z_1 - t_{11}, 0), \dots, \max(z_k - t_{k6}, 0))

    with :math:`z` the features in units of their deviation. The knots :math:`t` are quantiles of the distinct values of
    a feature, so that each piece holds about as many of them. Beyond the range of the training data the slopes of the
    outer pieces go on. Mean, deviation and knots are saved with the weights.

    Args:
        features: ``(n, ..., k)`` training features.

    >>> x = torch.tensor([[0.0], [7.0]])
    >>> SplineTerms(torch.arange(8.0)[:, None])(x).shape
    torch.Size([2, 7])
    """

    mean: Tensor
    scale: Tensor
    knots: Tensor

    def __init__(self, features: Tensor) -> None:
        super().__init__()
        rows, mean, scale = moments(features)
        knots = [_knots(column) for column in ((rows - mean) / scale).T]
        dtype = torch.get_default_dtype()
        for name, value in (("mean", mean), ("scale", scale), ("knots", torch.stack(knots))):
            self.register_buffer(name, value.to(dtype))

    @property
    def width(self) -> int:
        """Number of terms."""
        return self.knots.numel()

    def forward(self, x: Tensor) -> Tensor:
        """Append the terms."""
        z = (x[..., : len(self.mean)] - self.mean) / self.scale
        return torch.cat([x, (z[..., None] - self.knots).clamp(min=0).flatten(-2)], dim=-1)


def _knots(values: Tensor) -> Tensor:
    """Knots of one feature; a feature with one or two values has one slope, and its terms are always zero."""
    distinct = np.unique(values.numpy())
    if len(distinct) <= 2:
        return torch.full((KNOTS,), torch.inf, dtype=values.dtype)
    return torch.from_numpy(np.quantile(distinct, np.linspace(0, 1, KNOTS + 2)[1:-1]))
