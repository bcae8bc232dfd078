"""Weights of instances: an instance of weight 2 counts as two of weight 1."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.tensors import tensor


def checked_weights(name: str, given: Any, n: int, *, zero: bool = False) -> Tensor:
    """Weights ``(n,)`` in float64.

    Args:
        name: what they are called, for the message.
        given: array, list, series or tensor ``(n,)``.
        n: number of instances.
        zero: whether some of them may be zero.

    Raises:
        InputError: another shape, or a weight that is negative, zero where it must not be, or not finite.
    """
    weights = tensor(name, given).to(torch.float64)
    if weights.shape != (n,):
        raise InputError(f"{name} must have shape ({n},), got {tuple(weights.shape)}")
    wrong = ~torch.isfinite(weights) | (weights < 0 if zero else weights <= 0)
    if bool(wrong.any()):
        row = int(wrong.nonzero()[0])
        expected = "finite and not negative" if zero else "finite and above 0: leave out instances that do not count"
        raise InputError(f"{name} must be {expected}; got {weights[row].item()} in row {row}")
    if n and not bool(weights.any()):
        raise InputError(f"{name} must not be zero for all instances, got {n} weights of 0")
    return weights


def relative_weights(weight: Tensor | None) -> Tensor | None:
    """Weights in units of their mean, so that a mean of weighted values is the weighted mean."""
    return None if weight is None else weight / weight.mean()


def weighted_mean(values: Tensor, weight: Tensor | None) -> float:
    """Mean of values ``(n,)``, of which some may be NaN and are left out; NaN where all are."""
    known = ~torch.isnan(values)
    if weight is None:
        return float(values[known].mean()) if bool(known.any()) else float("nan")
    return float((weight[known] * values[known]).sum() / weight[known].sum())
