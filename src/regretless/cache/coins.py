"""The seeded coins of a cache: which generator a policy draws from in each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.number_checks import check_integer
from regretless.ranks import Ranks


class Coins:
    """One generator for all steps; for ranks that share a cache, one per rank and step.

    A generator per step depends on the number of the step only: no rank needs the generators of the others to
    continue from a checkpoint.
    """

    def __init__(self, seed: int) -> None:
        self.seed = check_integer("seed", seed, least=0)
        self._generator = np.random.default_rng(seed)
        self._steps = 0  # of ranks

    def of_step(self, ranks: Ranks | None) -> np.random.Generator:
        """The generator of the next step."""
        if ranks is None:
            return self._generator
        self._steps += 1
        return np.random.default_rng([self.seed, ranks.rank, self._steps])

    def state_dict(self) -> dict[str, Any]:
        """State of the generator, and the number of steps."""
        return {"coin": self._generator.bit_generator.state, "steps": self._steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from ``state``; the files of version 0.1 hold no steps."""
        self._generator.bit_generator.state = state["coin"]
        self._steps = state.get("steps", 0)
