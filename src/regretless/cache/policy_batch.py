"""What a policy sees of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from torch import Tensor

from regretless.milp import Floats

GapAt = Literal["lookup", "solve"]


class Batch:
    """Size and certified gaps of a batch; a policy that needs no gaps costs no bound.

    Args:
        at: tensors ``(batch, width)`` of the costs at which heads are solved.
        queries: those at which everything is looked up.
        asked: instances that the policy decided on before this batch.
        gaps_at: gaps ``(batch,)`` at costs, or ``None`` for a problem without a bound.

    Attributes:
        size: number of instances.
    """

    def __init__(
        self, at: Sequence[Tensor], queries: Sequence[Tensor], *, asked: int, gaps_at: Callable[[Tensor], Floats | None]
    ) -> None:
        self._costs, self._gaps_at = {"solve": at, "lookup": queries}, gaps_at
        self.size, self.asked = at[0].shape[0], asked

    def gaps(self, at: GapAt) -> Floats | None:
        """Certified relative gaps ``(size,)``, computed on request: the largest of each instance over its costs."""
        found = [self._gaps_at(costs) for costs in self._costs[at]]
        known = [gaps for gaps in found if gaps is not None]
        return np.stack(known).max(axis=0) if known else None
