"""The deviation by which features and costs are scaled."""

from __future__ import annotations

from torch import Tensor


def deviation_or_one(values: Tensor, dim: int | None = None) -> Tensor:
    """Standard deviation, or 1 where values are constant and have no scale.

    Args:
        values: numbers of any shape.
        dim: dimension over which it is taken; ``None`` for all.
    """
    deviation = values.std(dim=dim, correction=0)
    return deviation.where(deviation > 1e-12, 1.0)
