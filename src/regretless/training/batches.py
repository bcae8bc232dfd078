"""Batches of training: the part of one rank, how the figures of ranks add up, and batches that a loader yields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, repeat
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses.base import Reduction
from regretless.ranks import Ranks
from regretless.training.evaluation import to_loss, to_model
from regretless.training.history import Row

ADDED = ("loss", "solves", "not_optimal", "failed")  # a shared cache counts the look-ups of all ranks already
LARGEST = ("seconds", "solver_seconds")


class Batch(NamedTuple):
    """Instances of one step; without the features, the arguments of a loss behind the prediction."""

    features: Tensor
    costs: Tensor
    solutions: Tensor
    instance: Tensor | None = None
    weight: Tensor | None = None


class RankBatches:
    """The batches of one rank: in every step a part of a joint batch, which is the same as on one rank.

    The ranks shuffle alike. A joint batch has ``batch_size`` instances per rank; the last one of an epoch may have
    fewer, and one with fewer instances than ranks joins the one before. Gradients are weighted by the sizes of the
    parts, so that the mean over the ranks, which torch takes, is the mean over the joint batch.

    Args:
        instances: of the training data.
        batch_size: instances per step and rank.
        ranks: ``None`` for a training by one process.
        least: instances that a rank needs in every step; a last batch with fewer joins the one before, too.

    Raises:
        InputError: fewer instances than ranks.
    """

    def __init__(self, instances: int, batch_size: int, ranks: Ranks | None, least: int = 1) -> None:
        self._size, rank = (1, 0) if ranks is None else (ranks.size, ranks.rank)
        if instances < self._size:
            raise InputError(f"{self._size} ranks need at least {self._size} training instances, got {instances}")
        starts = list(range(0, instances, batch_size * self._size))
        joined = len(starts) > 1 and instances - starts[-1] < least * self._size
        if joined:
            starts.pop()
        self._joint, self._parts = [], []
        for first, end in zip(starts, [*starts[1:], instances], strict=True):
            share = torch.arange(first, end).tensor_split(self._size)[rank]
            self._joint.append(end - first)
            self._parts.append((int(share[0]), len(share)))
        sizes = [size for _, size in self._parts]
        self._sizes: int | list[int] = sizes if joined else batch_size
        self._own = None if ranks is None else torch.cat([torch.arange(a, a + size) for a, size in self._parts])

    def __len__(self) -> int:
        return len(self._parts)

    def cut(self, values: Tensor, order: Tensor) -> tuple[Tensor, ...]:
        """The batches of this rank, of values ``(instances, ...)`` in a shuffled order."""
        own = order if self._own is None else order[self._own.to(order.device)]
        return torch.split(values.index_select(0, own), self._sizes)

    def start(self, step: int) -> int:
        """Position in the order of the first instance of this rank in a step."""
        return self._parts[step][0]

    def weight(self, step: int, reduction: Reduction) -> float:
        """Factor of this rank's gradient in a step."""
        if self._size == 1:
            return 1.0
        return self._size * (self._parts[step][1] / self._joint[step] if reduction == "mean" else 1.0)


class DataInMemory:
    """Training data on the device and in the precision of a model, moved once so that a step only slices.

    Args:
        train: the data.
        weight: ``(n,)`` weights of the instances, or ``None``.
        like: a parameter of the model.
        cuts: where batches start and end.
    """

    def __init__(self, train: Dataset, weight: Tensor | None, like: Tensor, cuts: RankBatches) -> None:
        self._required = (to_model(train.features, like), to_loss(train.costs, like), to_loss(train.solutions, like))
        instance = None if train.instance is None else train.instance.to(like.device)
        self._optional = (instance, None if weight is None else to_loss(weight, like))
        self._device, self._cuts = like.device, cuts

    def batches(self, order: Tensor, first: int = 0) -> Iterator[Batch]:
        """Batches in an order ``(n,)``, from a step on."""
        order = order.to(self._device)
        features, costs, solutions = (self._cuts.cut(part, order) for part in self._required)
        optional = (repeat(None) if part is None else self._cuts.cut(part, order) for part in self._optional)
        return map(Batch._make, islice(zip(features, costs, solutions, *optional, strict=False), first, None))


def total_row(row: Row, ranks: Ranks) -> Row:
    """The figures of an epoch over all ranks: losses and counts added up, and the longest times."""
    every = ranks.gather_objects({name: row[name] for name in (*ADDED, *LARGEST)})
    return {name: sum(one[name] for one in every) for name in ADDED} | {
        name: max(one[name] for one in every) for name in LARGEST
    }


def streamed(loader: Iterable[Any], like: Tensor) -> Iterator[Batch]:
    """One pass over a loader: features, costs, solutions and ids on the device and in the precision of ``like``.

    Costs and solutions have at least single precision; see ``to_loss``.

    Args:
        loader: yields a ``Dataset``, or tuples ``(features, costs, solutions)`` or ``(features, costs, solutions,
            instance)`` of tensors with one row per instance.
        like: a parameter of the model.

    Raises:
        InputError: a batch is something else; the message names its number.
    """
    for number, batch in enumerate(loader):
        if isinstance(batch, Dataset) and batch.weight is not None:
            raise InputError(
                f"batch {number} of the loader has weights, whose mean over all data is not known: give fit all data "
                "as one Dataset, or draw the batches by weight (torch.utils.data.WeightedRandomSampler)"
            )
        parts = (batch.features, batch.costs, batch.solutions, batch.instance) if isinstance(batch, Dataset) else batch
        tensors = isinstance(parts, list | tuple) and all(isinstance(part, Tensor) for part in parts[:3])
        if not tensors or len(parts) not in (3, 4) or not isinstance(parts[-1], Tensor | None):
            raise InputError(
                f"batch {number} of the loader must be (features, costs, solutions) or (features, costs, solutions, "
                f"instance) as tensors, or a Dataset, got {type(batch).__name__}"
            )
        features, costs, solutions = parts[:3]
        ids = parts[3] if len(parts) == 4 else None
        if not len(features) == len(costs) == len(solutions) or not len(features):
            raise InputError(f"all parts of batch {number} of the loader must have the same number of rows, at least 1")
        moved = to_model(features, like), to_loss(costs, like), to_loss(solutions, like)
        yield Batch(*moved, None if ids is None else ids.to(like.device))
