"""Look-ups that a CUDA graph can hold, for the steps of training on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

# Scores of a look-up. To compute more of them takes longer than the launches that a graph saves, and a store reserves
# up to twice the columns that it needs.
MOST_FROZEN = 1 << 24


class FrozenLookup:
    """Look-ups among all columns that a store has reserved, in place of those that hold a solution of their own.

    The others repeat the first solution, so they change no answer, and the columns keep their shape and their place
    while S grows into them.

    Args:
        columns: ``(width, reserved)``, see ``SolutionStore.reserved_columns``.
    """

    def __init__(self, columns: Tensor) -> None:
        self.columns = columns
        self.count = 0  # of queries that were answered

    def __call__(self, queries: Sequence[Tensor]) -> list[Tensor]:
        """Best solutions, one ``(batch, width)`` tensor per query ``(batch, width)``."""
        costs = queries[0] if len(queries) == 1 else torch.cat(list(queries))
        self.count += costs.shape[0]
        position = torch.mm(costs.to(self.columns.dtype), self.columns).min(dim=1).indices
        found = self.columns.T.index_select(0, position).to(costs.dtype)
        return list(found.chunk(len(queries)))
