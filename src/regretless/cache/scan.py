"""The look-up itself: the best row of S for every cost, in blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

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

    def of(a: int, b: int, mine: Tensor | None = None) -> Tensor:
        """Scores of the rows from a to b, for all costs or for ``mine``."""
        cost = costs if mine is None else costs[mine]
        found = scores(rows[a:b], cost, objective)
        if serves is None or instance is None:
            return found
        ids = instance if mine is None else instance[mine]
        return found.masked_fill(~serves[ids, a:b], torch.inf)

    budget = BLOCK_SCORES_GPU if costs.is_cuda else BLOCK_SCORES
    size = rows.shape[0]
    block = max(1, budget // (max(costs.shape[0], 1) * (1 if objective is None else rows.shape[1])))
    if size <= block:
        # min() with its index is half as dear as argmin() on a CPU.
        value, position = of(0, size).min(dim=1)
        return value, position
    # Two passes: a block's smallest score is cheap, its place is not, so that is looked for in the best block only.
    value = costs.new_full((len(costs),), torch.inf)
    winner = torch.zeros(len(costs), dtype=torch.int64, device=costs.device)
    for a in range(0, size, block):
        best = of(a, a + block).amin(dim=1)
        winner = torch.where(best < value, a, winner)
        value = torch.minimum(value, best)
    position = torch.empty_like(winner)
    for a in torch.unique(winner).tolist():
        mine = (winner == a).nonzero().flatten()
        position[mine] = of(a, a + block, mine).min(dim=1).indices + a
    return value, position


def scores(rows: Tensor, costs: Tensor, objective: Objective | None) -> Tensor:
    """Scores ``(batch, |rows|)``."""
    # Rows first: the minimum then runs along whole cache lines.
    return (rows @ costs.T).T if objective is None else objective(rows[None], costs[:, None])
