"""Squares and products of features, so that a linear layer over them is a quadratic model."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from regretless.training.deviation import moments


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
