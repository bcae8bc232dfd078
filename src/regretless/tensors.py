"""What users hand over as tensors (arrays, nested lists, data frames), and tensors as arrays where that is faster."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.errors import InputError

AnyFloats = NDArray[np.floating[Any]]
# For formulas that are written once for both: arrays on a CPU, where at a few rows a call is all overhead and numpy's
# cost a fraction of torch's; tensors on every other device.
Array = TypeVar("Array", Tensor, AnyFloats)


def tensor(name: str, value: Any) -> Tensor:
    """Return numbers as a tensor of their own; a tensor is taken as it is, without its gradient.

    Args:
        name: what the values are, for the message.
        value: array, nested list, data frame or tensor.

    Raises:
        InputError: not numbers, or lists of different lengths.
    """
    if isinstance(value, Tensor):
        return value.detach()
    if value is None:
        raise InputError(f"{name} must be numbers, got None")
    try:
        # A copy: the caller's array may be read-only, and may change later.
        array = np.array(value.to_numpy() if hasattr(value, "to_numpy") else value, order="C")
        return torch.from_numpy(array.astype(np.float64) if array.dtype == object else array)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, got {type(value).__name__}: {error}") from error


def ids(value: Any) -> Tensor | None:
    """Return instance ids as int64, refusing what would have to be rounded; ``None`` stays ``None``."""
    if value is None:
        return None
    given = tensor("instance", value)
    whole = given.to(torch.int64)
    if given.dtype == torch.bool or not torch.equal(whole.to(given.dtype), given):
        raise InputError(
            f"instance must be whole numbers, got {given.dtype} values such as {given.flatten()[:3].tolist()}"
        )
    return whole


def view(values: Tensor) -> AnyFloats | None:
    """The memory of ``values`` as an array, where numpy can have it; else ``None``."""
    if values.is_cpu and values.dtype in (torch.float32, torch.float64):
        return values.numpy()
    return None


def as_tensor(values: Array) -> Tensor:
    """The memory of ``values`` as a tensor."""
    return values if isinstance(values, Tensor) else torch.from_numpy(values)


def like(values: Tensor, other: Array) -> Array:
    """``values`` of the kind and precision of ``other``."""
    if isinstance(other, Tensor):
        return values.to(other.dtype)
    return values.numpy().astype(other.dtype, copy=False)


def row_minima(values: Array) -> Array:
    """Smallest of each row: ``(n, m) -> (n,)``."""
    minima: Array = values.amin(dim=1) if isinstance(values, Tensor) else values.min(axis=1)
    return minima


def exp_(values: Array) -> Array:
    """Exponentials, in the place of ``values``."""
    return values.exp_() if isinstance(values, Tensor) else np.exp(values, out=values)


def epsilon(values: Array) -> float:
    """Relative precision of the numbers."""
    return float(torch.finfo(values.dtype).eps if isinstance(values, Tensor) else np.finfo(values.dtype).eps)
