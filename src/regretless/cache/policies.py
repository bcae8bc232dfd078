"""Which instances are worth a solve: small objects, kept apart from how the cache stores and finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regretless.errors import InputError

if TYPE_CHECKING:
    from regretless.cache.solution_cache import SolutionCache


class Policy(Protocol):
    """Decide which instances of a batch are solved exactly."""

    def choose(
        self, cache: SolutionCache, costs: Tensor, instance: Tensor | None, generator: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Return a ``(batch,)`` mask of the instances to solve at ``costs`` ``(batch, width)``."""
        ...


class Bernoulli:
    """The paper's coin: each instance by itself is solved with probability ``p``.

    >>> Bernoulli(0.05)
    Bernoulli(p=0.05)
    """

    def __init__(self, p: float) -> None:
        if not 0.0 <= p <= 1.0:
            raise InputError(f"p_solve must be between 0 and 1, got {p}")
        self.p = float(p)

    def __repr__(self) -> str:
        return f"Bernoulli(p={self.p})"

    def choose(
        self, cache: SolutionCache, costs: Tensor, instance: Tensor | None, generator: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Flip one coin an instance."""
        return generator.random(len(costs)) < self.p
