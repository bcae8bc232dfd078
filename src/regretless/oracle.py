"""What a loss needs of a solver: solutions for costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from regretless.problem import Problem


class Oracle(Protocol):
    """Anything that answers costs with solutions, always minimizing: a ``Problem``, or a cache around one."""

    @property
    def problem(self) -> Problem:
        """The problem whose solutions are returned."""

    def answer(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> list[Tensor]:
        """Answer several cost vectors per instance, from the same side of the coin where there is one.

        Args:
            queries: tensors ``(batch, width)``: the transformed costs at which solutions are wanted.
            predicted: ``(batch, width)`` predicted costs, for oracles that solve there.
            instance: ``(batch,)`` ids for families.

        Returns:
            One ``(batch, width)`` tensor per query; a row of NaN says that the instance is to be left out.
        """
