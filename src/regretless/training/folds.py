"""Folds of the training data, for choices that must not use test data."""

from __future__ import annotations

import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.number_checks import check_integer


def make_folds(n: int, folds: int, *, seed: int = 0, ordered: bool = False) -> list[Tensor]:
    """Split ``n`` instances into held-out parts of almost equal size.

    Args:
        n: number of instances.
        folds: number of parts, from 2 to ``n``.
        seed: of the shuffling.
        ordered: consecutive blocks in place of random parts, for time series.

    Returns:
        Sorted positions ``(m,)`` of each part.

    >>> [part.tolist() for part in make_folds(5, 2, ordered=True)]
    [[0, 1, 2], [3, 4]]
    """
    if check_integer("folds", folds, least=2) > n:
        raise InputError(f"folds must be between 2 and the {n} instances, got {folds}")
    order = torch.arange(n) if ordered else torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    return [part.sort().values for part in torch.tensor_split(order, folds)]


def rest_of(n: int, held_out: Tensor) -> Tensor:
    """Sorted positions of the instances that are not held out."""
    mask = torch.ones(n, dtype=torch.bool)
    mask[held_out] = False
    return mask.nonzero().flatten()
