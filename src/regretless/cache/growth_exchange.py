"""What ranks tell each other about one step of a cache that they share."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regretless.errors import SolveError
from regretless.ranks import Ranks


@dataclass(frozen=True)
class Growth:
    """What one step of a cache found.

    Attributes:
        rows: ``(m, width)`` solutions.
        ids: ``(m,)`` instances that they were found for, for families.
        asked: instances that the policy decided on.
        solves: exact solves.
        failed: solves without a solution.
        lookups: queries answered from S since the last step.
    """

    rows: Tensor
    ids: Tensor | None = None
    asked: int = 0
    solves: int = 0
    failed: int = 0
    lookups: int = 0


def exchange(ranks: Ranks, own: Growth, *, stop: bool = False) -> Growth:
    """Join the growth of all ranks: solutions in the order of ranks, counts added up.

    Args:
        ranks: all of them must call this.
        own: of this rank.
        stop: whether this rank cannot go on; its error is raised by the caller, and the other ranks stop here.

    Raises:
        SolveError: another rank cannot go on.
    """
    numbers = [len(own.rows), own.asked, own.solves, own.failed, own.lookups, int(stop)]
    every = ranks.gather(torch.tensor(numbers))
    stopped = [rank for rank, flag in enumerate(every[:, 5].tolist()) if flag]
    if stopped and not stop:
        raise SolveError(f"training stops: a solve failed on rank {stopped[0]}, whose message names the instance")
    counts = every[:, 0].tolist()
    rows, ids = own.rows, own.ids
    if sum(counts) and not stopped:
        rows = ranks.gather_rows(own.rows.to(torch.float64), counts)
        ids = None if own.ids is None else ranks.gather_rows(own.ids, counts)
    _, asked, solves, failed, lookups, _ = every.sum(dim=0).tolist()
    return Growth(rows, ids, asked, solves, failed, lookups)
