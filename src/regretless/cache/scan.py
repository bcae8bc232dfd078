"""The look-up itself: the best row of S for every cost, in blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regretless.tensors import view

Objective = Callable[[Tensor, Tensor], Tensor]

# Scores of one block. On a CPU a quarter of a million floats are 1 MB, which stays in the processor's cache; on a GPU
# few large products are what is fast. Memory is bounded by it, whatever |S| and the batch.
BLOCK_SCORES = 262_144
BLOCK_SCORES_GPU = 1 << 28


def best_rows(
    rows: Tensor,
    costs: Tensor,
    *,
    serves: Tensor | None = None,
    instance: Tensor | None = None,
    objective: Objective | None = None,
) -> tuple[Tensor, Tensor]:
    """Find for every cost the row of smallest score.

    Args:
        rows: ``(|S|, width)``.
        costs: ``(batch, width)``.
        serves: ``(instances, |S|)`` mask of the rows that each instance may use; ``None`` for all.
        instance: ``(batch,)`` ids, together with ``serves``.
        objective: ``f(rows, costs)`` on broadcast shapes, where it is not linear.

    Returns:
        Scores ``(batch,)`` (infinite where no row may be used) and positions ``(batch,)``.
    """
    budget = BLOCK_SCORES_GPU if costs.is_cuda else BLOCK_SCORES
    block = max(1, budget // (max(costs.shape[0], 1) * (1 if objective is None else rows.shape[1])))
    size = rows.shape[0]
    if size <= block:
        return _least(_scores(rows, costs, 0, size, serves, instance, objective))
    value = costs.new_full((len(costs),), torch.inf)
    position = torch.zeros(len(costs), dtype=torch.int64, device=costs.device)
    for a in range(0, size, block):
        least, place = _least(_scores(rows, costs, a, a + block, serves, instance, objective))
        position = torch.where(least < value, place + a, position)
        value = torch.minimum(value, least)
    return value, position


def _scores(
    rows: Tensor,
    costs: Tensor,
    start: int,
    stop: int,
    serves: Tensor | None,
    instance: Tensor | None,
    objective: Objective | None,
) -> Tensor:
    """Scores ``(batch, stop - start)`` of a block of rows; infinite where a row does not serve."""
    part = rows[start:stop] if stop - start < rows.shape[0] else rows
    scores = costs @ part.T if objective is None else objective(part[None], costs[:, None])
    if serves is None or instance is None:
        return scores
    return scores.masked_fill(~serves[instance, start:stop], torch.inf)


def _least(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Smallest score of each row and its place; numpy's search is many times faster than torch's on a CPU."""
    array = view(scores.detach())
    if array is None:
        value, place = scores.min(dim=1)
        return value, place
    return torch.from_numpy(array.min(axis=1)), torch.from_numpy(array.argmin(axis=1))
