"""The members of S as a loss uses them: all solutions, and which of them are feasible per instance of the batch."""

from __future__ import annotations

from torch import Tensor

from regretless.cache import SolutionCache
from regretless.cache.lookup import no_solution


def members(cache: SolutionCache, predicted: Tensor, instance: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Return the solutions in S, on the device and in the precision of the prediction.

    Args:
        cache: holds S.
        predicted: ``(batch, width)`` costs of the step.
        instance: ``(batch,)`` ids, for families.

    Returns:
        Columns ``(width, |S|)`` and, for families, a mask ``(batch, |S|)`` of those that are feasible per instance.

    Raises:
        InputError: S holds nothing that is feasible for an instance.
    """
    with cache.lock:
        columns = cache.store.columns
        # Other threads may insert before the backward pass: into free columns, or over dropped members. Torch notices
        # a write to any column, so that the graph gets a tensor that counts its own writes.
        columns = (columns.data if cache.store.capacity is None else columns.clone()).to(predicted)
        if instance is None or cache.store.serves is None:
            return columns, None
        serves = cache.store.serves[instance]
    if bool((lost := ~serves.any(dim=1)).any()):
        raise no_solution(int(instance[lost][0]))
    return columns, serves
