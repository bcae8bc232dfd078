"""What a policy sees of a batch; see ``regretless.cache.policies.Batch``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regretless.cache.policies import GapAt

Gaps = NDArray[np.float64]


class BatchView:
    """Size and certified gaps of a batch; a policy that needs no gaps costs no bound.

    Args:
        at: tensors ``(batch, width)`` of the costs at which heads are solved.
        queries: those at which everything is looked up.
        asked: instances that the policy decided on before.
        gaps: gaps ``(batch,)`` at costs, or ``None`` for a problem without a bound.
    """

    def __init__(
        self, at: Sequence[Tensor], queries: Sequence[Tensor], *, asked: int, gaps: Callable[[Tensor], Gaps | None]
    ) -> None:
        self._at, self._queries, self._gaps = at, queries, gaps
        self.size = at[0].shape[0]
        self.asked = asked

    def gaps(self, at: GapAt) -> Gaps | None:
        """Largest gap of each instance over its cost vectors."""
        found = [self._gaps(costs) for costs in (self._at if at == "solve" else self._queries)]
        known = [gaps for gaps in found if gaps is not None]
        return np.stack(known).max(axis=0) if known else None
