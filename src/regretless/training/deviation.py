"""The deviation by which features and costs are scaled."""

from __future__ import annotations

import torch
from torch import Tensor


def deviation_or_one(values: Tensor, dim: int | None = None) -> Tensor:
    """Standard deviation over ``dim``, or 1 where values are constant and have no scale; see ``varies``."""
    return values.std(dim=dim, correction=0).where(varies(values, dim), 1.0)


def varies(values: Tensor, dim: int | None = None) -> Tensor:
    """Whether values are not constant.

    Values are constant where they differ by no more than the default precision of torch, in which models compute,
    distinguishes at their size. The deviation itself does not tell: that of a constant 1e8 / 3 is not zero, but as
    large as the rounding of its mean.

    Args:
        values: numbers of any shape.
        dim: dimension over which it is taken; ``None`` for all.
    """
    deviation, precision = values.std(dim=dim, correction=0), torch.finfo(torch.get_default_dtype())
    over = () if dim is None else (dim,)
    low, high = values.amin(over), values.amax(over)
    return (high - low > precision.eps * torch.maximum(low.abs(), high.abs())) & (deviation > precision.tiny)


def moments(features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows ``(m, k)`` of features ``(n, ..., k)`` in float64, and mean and deviation (or 1) of each column."""
    rows = features.reshape(-1, features.shape[-1]).to(torch.float64)
    return rows, rows.mean(dim=0), deviation_or_one(rows, dim=0)
