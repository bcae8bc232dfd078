"""The check of ``answers.py`` for batches of continuous decisions, in tensors on their device."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from regretless.milp import MILP, Floats, with_infinities
from regretless.solvers.answers import ENGINE_TOLERANCE

# Denser matrices are faster as such.
SPARSE = 0.1


class BatchAnswerCheck:
    """Moves decisions into their bounds and checks them against the rows of one model without integers."""

    def __init__(self, milp: MILP, device: torch.device) -> None:
        def tensor(values: Floats) -> Tensor:
            return torch.as_tensor(values, device=device)

        self.lower, self.upper = tensor(with_infinities(milp.lower)), tensor(with_infinities(milp.upper))
        self.low, self.high = (with_infinities(bound) for bound in (milp.row_lower, milp.row_upper))
        room = [np.where(np.isinf(bound), 0.0, np.maximum(1.0, np.abs(bound))) for bound in (self.low, self.high)]
        self._least = tensor(self.low - ENGINE_TOLERANCE * room[0])
        self._most = tensor(self.high + ENGINE_TOLERANCE * room[1])
        self._rows = sparse_or_dense(milp.A).to(device)

    def settled(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Decisions ``(batch, n)`` inside their bounds, and a mask ``(batch,)`` of those that are feasible."""
        point = torch.minimum(torch.maximum(x, self.lower), self.upper) + 0.0
        good = ((point - x).abs() <= ENGINE_TOLERANCE * point.abs().clamp(min=1.0)).all(dim=1)
        activity = (self._rows @ point.T).T
        return point, good & ((activity >= self._least) & (activity <= self._most)).all(dim=1)


def sparse_or_dense(matrix: object) -> Tensor:
    """A matrix of scipy as a tensor, sparse where few entries are not zero."""
    given = matrix.tocoo()  # type: ignore[attr-defined]
    if given.nnz > SPARSE * given.shape[0] * given.shape[1]:
        return torch.as_tensor(given.toarray())
    index = torch.as_tensor(np.stack([given.row, given.col]).astype(np.int64))
    size = tuple(given.shape)
    return torch.sparse_coo_tensor(index, torch.as_tensor(given.data), size, check_invariants=False).coalesce()
