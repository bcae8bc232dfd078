"""Full decisions that exact solves found: a bounded set of distinct ones, from which a later answer can be chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from regretless.milp import Floats

CAPACITY, MAX_BYTES = 2048, 64_000_000


class FoundDecisions:
    """The latest distinct decisions ``(m, n)``; a full set drops the oldest.

    Args:
        n: length of a decision.
        capacity: largest number of decisions; fewer where they would take more than 64 MB.

    >>> found = FoundDecisions(2)
    >>> found.add(np.array([[1.0, 0.0], [1.0, 0.0], [np.nan, 0.0]]))
    [0]
    """

    def __init__(self, n: int, *, capacity: int = CAPACITY) -> None:
        self.n, self.capacity = n, max(1, min(capacity, MAX_BYTES // (8 * n)))
        self._array: Floats = np.empty((min(64, self.capacity), n))
        self._size, self._next = 0, 0
        self._places: dict[bytes, int] = {}
        self._keys: list[bytes] = []

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> Floats:
        """``(m, n)`` view of the decisions."""
        return self._array[: self._size]

    def add(self, decisions: Floats) -> list[int]:
        """Add the decisions that are new and finite, and return their positions."""
        positions = []
        for row in np.asarray(decisions, dtype=np.float64) + 0.0:  # without negative zeros
            key = row.tobytes()
            if key in self._places or not np.isfinite(row).all():
                continue
            place = self._place(key)
            self._array[place] = row
            positions.append(place)
        return positions

    def state_dict(self) -> dict[str, Any]:
        """The decisions and which one is dropped next, for a checkpoint."""
        return {"rows": torch.from_numpy(self.rows.copy()), "next": self._next}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Hold the decisions of a saved state, and no others."""
        self._size, self._next, self._places, self._keys = 0, 0, {}, []
        self.add(state["rows"].numpy())
        self._next = state["next"]

    def _place(self, key: bytes) -> int:
        if self._size < self.capacity:
            place, self._size = self._size, self._size + 1
            self._keys.append(key)
            if place == len(self._array):
                grown = np.empty((min(2 * place, self.capacity), self.n))
                grown[:place] = self._array
                self._array = grown
        else:
            place, self._next = self._next, (self._next + 1) % self.capacity
            del self._places[self._keys[place]]
            self._keys[place] = key
        self._places[key] = place
        return place


def saved(problem: Any) -> dict[str, Any] | None:
    """The state of ``problem.found`` for a checkpoint; ``None`` without a problem, or where it keeps no decisions."""
    found: FoundDecisions | None = getattr(problem, "found", None)
    return None if found is None else found.state_dict()


def restore(problem: Any, state: dict[str, Any] | None) -> None:
    """Continue from what ``saved`` returned, if the problem keeps decisions and did so before."""
    found: FoundDecisions | None = getattr(problem, "found", None)
    if found is not None and state is not None:
        found.load_state_dict(state)
