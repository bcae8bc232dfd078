"""When each stored solution was inserted or last used, and which of them leave a full store."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class LastUse:
    """A stamp per place of a store, from a clock that every insertion and every use moves on.

    Attributes:
        stamps: ``(places,)``.
        clock: the last stamp.
    """

    def __init__(self) -> None:
        self.stamps = torch.empty(0, dtype=torch.int64)
        self.clock = 0

    def insert(self, places: slice | Tensor, count: int) -> None:
        """Stamp new solutions, each with its own stamp, so that the first of a batch is evicted first."""
        self.stamps[places] = torch.arange(self.clock + 1, self.clock + 1 + count, device=self.stamps.device)
        self.clock += count

    def use(self, places: Any) -> None:
        """Stamp solutions that are used at the same time."""
        self.clock += 1
        self.stamps[places] = self.clock

    def oldest(self, among: int, count: int) -> Tensor:
        """Places ``(count,)`` with the smallest stamps of the first ``among``, in that order.

        Solutions used by one look-up have one stamp: the place decides, so that every machine evicts alike.
        """
        places = torch.arange(among, device=self.stamps.device)
        rank = self.stamps[:among] * (among + 1) + places
        return torch.topk(rank, count, largest=False, sorted=True).indices
