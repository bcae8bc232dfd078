"""Multipliers from the linear relaxation; every solve starts from one reference basis."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.milp import MILP, Floats
from regretless.solvers.highs import bare_highs, pass_model
from regretless.solvers.objective_scale import scaled_objectives


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
