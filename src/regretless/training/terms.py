"""Modules of linear models beside their layer: products and splines of features, and one constant per variable."""

from __future__ import annotations

from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from regretless.training.scaling import moments

KNOTS = 6  # per feature


@final
class QuadraticTerms(nn.Module):
    r"""Append squares and products to features: ``(..., k) -> (..., k + k (k + 1) / 2)``.

    .. math:: x \mapsto (x_1, \dots, x_k, z_1^2, z_1 z_2, \dots, z_k^2)

    with :math:`z` the features in units of their deviation, limited to the range of the training data: beyond it a
    model is linear, and an unusual feature does not lead to a huge square. Mean, deviation and range are saved with
    the weights.

    Args:
        features: ``(n, ..., k)`` training features.

    >>> QuadraticTerms(torch.tensor([[-1.0, 0.0], [1.0, 0.0]]))(torch.tensor([[1.0, 0.0]]))
    tensor([[1., 0., 1., 0., 0.]])
    """

    mean: Tensor
    scale: Tensor
    low: Tensor
    high: Tensor
    first: Tensor
    second: Tensor

    def __init__(self, features: Tensor) -> None:
        super().__init__()
        rows, mean, scale = moments(features)
        scaled = (rows - mean) / scale
        dtype = torch.get_default_dtype()
        for name, value in (("mean", mean), ("scale", scale), ("low", scaled.amin(0)), ("high", scaled.amax(0))):
            self.register_buffer(name, value.to(dtype))
        first, second = torch.triu_indices(len(mean), len(mean))
        self.register_buffer("first", first, persistent=False)
        self.register_buffer("second", second, persistent=False)

    @property
    def features(self) -> int:
        """Number of features."""
        return len(self.mean)

    @property
    def width(self) -> int:
        """Number of features and terms."""
        return count_terms(len(self.mean))

    def forward(self, x: Tensor) -> Tensor:
        """Append the terms."""
        z = ((x - self.mean) / self.scale).clamp(self.low, self.high)
        return torch.cat([x, z[..., self.first] * z[..., self.second]], dim=-1)


def count_terms(features: int) -> int:
    """Number of features with their squares and products."""
    return features + features * (features + 1) // 2


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


@final
class Intercepts(nn.Module):
    """Add one trained constant per variable to costs ``(batch, d)``.

    A shared model sees of a variable only its features. What distinguishes variables for good and is in no column, such
    as the size of an item, goes into its constant.

    >>> Intercepts(2)(torch.tensor([[1.0, 2.0]])).tolist()
    [[1.0, 2.0]]
    """

    def __init__(self, variables: int) -> None:
        super().__init__()
        self.intercepts = nn.Parameter(torch.zeros(variables))

    def forward(self, costs: Tensor) -> Tensor:
        """Add the constants."""
        return costs + self.intercepts
