"""Formulas that take tensors and NumPy's arrays alike, and when a step computes with arrays.

On a CPU a training step is some dozen operations on a thousand numbers, and an operation takes as long as it takes to
start it. NumPy starts one in a third of the time of torch. ``benchmarks/step.py`` measures what this saves; below 1.1
times it should be deleted.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.tensors import in_dtype, scalar

Array = NDArray[Any]
Numbers = TypeVar("Numbers", Tensor, Array)

# With more numbers torch computes in several threads.
MOST = 1 << 15
# Values whose mean is a product: with more of them the usual mean is fast, and more exact.
MOST_SHARES = 1024


# These functions ask for arrays, not for tensors: a class with a metaclass of its own, as ``Tensor`` is, takes
# ``isinstance`` several times as long to deny.
def as_array(values: Tensor) -> Array:
    """The memory of a tensor on a CPU as an array."""
    return values.detach().numpy() if values.requires_grad else values.numpy()


def as_tensor(values: Array) -> Tensor:
    """An array, or a number of NumPy, as a tensor in the same memory."""
    return torch.from_numpy(np.asarray(values))


def like(wanted: Numbers, values: Tensor) -> Numbers:
    """A tensor as an array where arrays are wanted, in their precision."""
    if not isinstance(wanted, np.ndarray):
        return in_dtype(values, wanted.dtype)
    array = as_array(values)
    return array if array.dtype is wanted.dtype else array.astype(wanted.dtype)


def dot(a: Numbers, b: Numbers) -> Numbers:
    """Inner products of the rows: ``(batch, d), (batch, d) -> (batch,)``."""
    if isinstance(a, np.ndarray):
        sums: Array = np.add.reduce(a * b, axis=1)  # ``ndarray.sum`` is a function of Python around it
        return sums
    return (a * b).sum(1)


def with_ones(costs: Numbers) -> Numbers:
    """Costs with a column of ones behind them."""
    if isinstance(costs, np.ndarray):
        return np.concatenate([costs, np.ones_like(costs, shape=(len(costs), 1))], axis=1)
    return torch.cat([costs, costs.new_ones(len(costs), 1)], dim=1)


def mean(values: Numbers) -> Numbers:
    """The mean of ``(n,)`` floating-point values; of a few by a product, in a third of the time of the usual."""
    count = values.shape[0]
    if isinstance(values, np.ndarray):
        found: Array = values.dot(_array_shares(count, values.dtype))
        return found
    few = values.is_cpu and 0 < count <= MOST_SHARES
    return torch.dot(values, _shares(count, values.dtype)) if few else values.mean()


def times(values: Numbers, factor: float) -> Numbers:
    """Values times a number."""
    return values * factor if isinstance(values, np.ndarray) else values * scalar(factor, values)


@lru_cache(maxsize=256)
def _shares(count: int, dtype: torch.dtype) -> Tensor:
    with torch.inference_mode(False):  # such a tensor could not be part of a graph later
        return torch.full((count,), 1.0 / count, dtype=dtype)


@lru_cache(maxsize=256)
def _array_shares(count: int, dtype: np.dtype[Any]) -> Array:
    return np.full(count, 1.0 / count, dtype=dtype)
