"""The precision of true costs and labels in training."""

from __future__ import annotations

import torch
from torch import Tensor


def to_loss(values: Tensor, parameter: Tensor) -> Tensor:
    """True costs or labels on the device of the model and in its precision, at least single precision.

    Losses are computed in single precision where the model is in half precision. A label such as 601, rounded to 600,
    would be beaten by an exact answer.
    """
    dtype = torch.promote_types(parameter.dtype, torch.float32)
    return values.to(device=parameter.device, dtype=dtype)
