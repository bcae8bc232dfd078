"""The members of S as a loss sees them: all rows, and which of them serve each instance of the batch."""

from __future__ import annotations

from torch import Tensor

from regretless.cache import SolutionCache
from regretless.errors import InputError


def members(cache: SolutionCache, predicted: Tensor, instance: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Return the solutions in S, in the device and precision of the prediction.

    Args:
        cache: holds S.
        predicted: ``(batch, width)`` costs of the step.
        instance: ``(batch,)`` ids, for families.

    Returns:
        Rows ``(|S|, width)`` and, for families, a mask ``(batch, |S|)`` of those that are feasible for each instance.

    Raises:
        InputError: S is empty, or holds nothing that is feasible for an instance.
    """
    store = cache.store
    store.to(predicted.device)
    if len(store) == 0:
        raise InputError("the cache is empty: add solutions first, for example cache.add(train.solutions)")
    rows = store.rows.to(predicted.dtype)
    if instance is None or store.serves is None:
        return rows, None
    serves = store.serves[instance]
    if bool((lost := ~serves.any(dim=1)).any()):
        raise InputError(
            f"the cache holds no solution that is feasible for instance {int(instance[lost][0])}: add its optimum first"
        )
    return rows, serves
