"""The answers of one step: what was solved put over what was looked up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.errors import SolveError
from regretless.tensors import view

if TYPE_CHECKING:
    from regretless.cache.solution_cache import SolutionCache


def mixed(
    cache: SolutionCache,
    queries: Sequence[Tensor],
    heads: Tensor | None,
    solved: list[Tensor],
    instance: Tensor | None,
    left_out: Tensor | None,
    *,
    whole: bool,
) -> list[Tensor]:
    """Solved heads and looked-up tails together; failed heads are tails, unless they are left out as NaN.

    Args:
        cache: looks the tails up.
        queries: tensors ``(batch, width)``, one answer each.
        heads: positions of the heads, or ``None``.
        solved: their solutions, one tensor a query; rows of NaN for failures.
        instance: ``(batch,)`` ids, for families.
        left_out: positions to leave out, or ``None``.
        whole: whether no head failed.
    """
    if heads is None and left_out is None:
        return cache.look_up(queries, instance)
    if heads is not None and whole and cache.store.capacity is None:
        if heads.shape[0] == queries[0].shape[0]:
            return [part.to(queries[0].dtype) for part in solved]
        # S holds what the heads found, so they may be looked up too: that is cheaper than to pick the tails.
        answers = cache.look_up(queries, instance)
        cache.statistics.lookups -= heads.shape[0] * len(queries)
        for answer, part in zip(answers, solved, strict=True):
            _put(answer, heads, part)
        return answers
    tails = torch.ones(len(queries[0]), dtype=torch.bool, device=queries[0].device)
    answers = [torch.full_like(query, torch.nan) for query in queries]
    if heads is not None:
        good = ~torch.stack([torch.isnan(part).any(dim=1) for part in solved]).any(dim=0)
        tails[heads[good]] = False
        for answer, part in zip(answers, solved, strict=True):
            answer[heads[good]] = part[good].to(answer.dtype)
    if left_out is not None:
        tails[left_out] = False
    if not bool(tails.any()):
        return answers
    if cache.store.size == 0 and cache.problem.on_failure != "raise":
        raise SolveError("every solve of the step failed and the cache is empty: nothing to train on")
    looked = cache.look_up([query[tails] for query in queries], None if instance is None else instance[tails])
    for answer, found in zip(answers, looked, strict=True):
        answer[tails] = found
    return answers


def picked_rows(costs: Tensor, chosen: NDArray[np.int64], heads: Tensor) -> Tensor:
    """The rows of the heads, which come as an array and as a tensor."""
    array = view(costs)
    return costs.index_select(0, heads) if array is None else torch.from_numpy(array[chosen])


def _put(answer: Tensor, heads: Tensor, solved: Tensor) -> None:
    """Write what was solved over what was looked up."""
    array, rows = view(answer), view(solved)
    if array is None or rows is None:
        answer.index_copy_(0, heads, solved.to(answer.dtype))
    else:
        array[heads.numpy()] = rows
