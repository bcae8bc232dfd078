"""The deviation by which features and costs are scaled."""

from __future__ import annotations

import torch
from torch import Tensor


def deviation_or_one(values: Tensor, dim: int | None = None) -> Tensor:
    """Standard deviation, or 1 where values are constant and have no scale.

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
    varies = high - low > precision.eps * torch.maximum(low.abs(), high.abs())
    return deviation.where(varies & (deviation > precision.tiny), 1.0)
