"""Multipliers of the dualized rows: those of the linear relaxation, and a bounded set of them, ranked by use."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.number_checks import check_integer
from regretless.solvers.highs import bare_highs, pass_model
from regretless.solvers.objective_scale import scaled_objectives

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


class RelaxationMultipliers:
    """Row multipliers of the linear relaxation of a MILP, as a function of the objective only.

    Every solve starts from the optimal basis of one reference objective, never from that of the previous solve. A
    resumed run therefore finds the same multipliers as an uninterrupted one.

    Args:
        milp: the model.
        reference: the objective ``(n,)`` whose optimal basis every solve starts from.
    """

    def __init__(self, milp: MILP, reference: Floats) -> None:
        self._highspy, self._highs = bare_highs("find multipliers with the linear relaxation")
        pass_model(self._highs, milp, relaxed=True)
        self._columns = np.arange(milp.n, dtype=np.int32)
        self._basis: Any = None
        if self(reference) is not None:
            self._basis = self._highs.getBasis()

    def __call__(self, objective: Floats) -> Floats | None:
        """Row multipliers ``(rows,)`` at ``objective`` ``(n,)``; ``None`` if the relaxation has no optimum."""
        # At a scale of the objective at which HiGHS finds them; they scale with it.
        largest = int(np.abs(objective).argmax())
        for scaled in scaled_objectives(objective):
            y = self._run_at(scaled)
            if y is not None:
                return y if scaled is objective else y * (objective[largest] / scaled[largest])
        return None

    def _run_at(self, objective: Floats) -> Floats | None:
        highs, kinds = self._highs, self._highspy
        highs.clearSolver()
        if self._basis is not None:
            highs.setBasis(self._basis)
        highs.changeColsCost(len(objective), self._columns, objective)
        if highs.run() == kinds.HighsStatus.kError or highs.getModelStatus() != kinds.HighsModelStatus.kOptimal:
            return None
        y = np.asarray(highs.getSolution().row_dual, dtype=np.float64)
        return y if np.isfinite(y).all() else None
