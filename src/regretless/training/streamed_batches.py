"""Batches of data that does not fit in memory: whatever a ``DataLoader`` of torch yields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from torch import Tensor

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.training.evaluation import to_model
from regretless.training.label_precision import to_loss

# Features, costs, solutions, ids and weights.
Batch = tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]


def streamed(loader: Iterable[Any], like: Tensor) -> Iterator[Batch]:
    """One pass over a loader: features, costs, solutions and ids on the device and in the precision of ``like``.

    Costs and solutions have at least single precision; see ``label_precision``.

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
        yield (*moved, None if ids is None else ids.to(like.device), None)
