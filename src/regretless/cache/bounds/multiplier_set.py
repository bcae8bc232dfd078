"""A bounded set of distinct multipliers, ranked by use."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.number_checks import check_integer

EQUAL = 1e-9


class MultiplierSet:
    """Multipliers ``(K, rows)`` of unit costs; the first is zero and is never replaced.

    In a full set, a new vector replaces the one that gave the best bound least often (ties: the oldest).

    Args:
        rows: number of dualized rows.
        most: largest size, including the zero vector.
    """

    def __init__(self, rows: int, *, most: int = 32) -> None:
        self.most = check_integer("most", most, least=2)
        self.values: Floats = np.zeros((1, rows))
        self.uses: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._born: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._clock = 0

    def __len__(self) -> int:
        return len(self.values)

    def add(self, y: Floats) -> bool:
        """Add one vector ``(rows,)``; return whether it is new."""
        scale = float(np.abs(y).max(initial=0.0))  # rows of large coefficients have tiny multipliers
        if (np.abs(self.values - y).max(axis=1, initial=0.0) <= EQUAL * scale).any():
            return False
        self._clock += 1
        if len(self) < self.most:
            self.values = np.concatenate([self.values, y[None]])
            self.uses = np.append(self.uses, 0)
            self._born = np.append(self._born, self._clock)
            return True
        place = 1 + int(np.lexsort((self._born[1:], self.uses[1:]))[0])
        self.values = self.values.copy()
        self.values[place], self.uses[place], self._born[place] = y, 0, self._clock
        return True

    def used(self, winners: NDArray[np.int64]) -> None:
        """Count the multipliers that gave the best bounds of a batch."""
        self.uses += np.bincount(winners, minlength=len(self))

    def state_dict(self) -> dict[str, Any]:
        """Values, uses and ages."""
        kept = {"values": self.values, "uses": self.uses, "born": self._born}
        return {name: torch.from_numpy(value.copy()) for name, value in kept.items()} | {"clock": self._clock}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore ``state``."""
        values = state["values"].numpy().astype(np.float64)
        if values.ndim != 2 or values.shape[1] != self.values.shape[1]:
            raise InputError(f"multipliers must have {self.values.shape[1]} columns, got shape {values.shape}")
        self.values = values.copy()
        self.uses, self._born = (state[name].numpy().astype(np.int64).copy() for name in ("uses", "born"))
        self._clock = int(state["clock"])
