"""Multipliers from the linear relaxation, each solve started from one reference basis."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.cache.bounds.groups import whole_bounds
from regretless.milp import MILP, Floats
from regretless.optional import need
from regretless.solvers.highs import highs_lp


class LinearMultipliers:
    """Row multipliers of the relaxation of one programme, a function of the objective alone.

    Every solve starts from the optimal basis of one reference objective (the first one, unless ``refer_to`` is called),
    never from that of the solve before: so a resumed run finds the same multipliers as one that was never stopped.

    Args:
        milp: the programme.
    """

    def __init__(self, milp: MILP) -> None:
        highspy = need("highspy", pip="highspy<1.15", why="find multipliers with the linear relaxation")
        self._highspy, self._milp = highspy, milp
        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        for name, value in (("threads", 1), ("parallel", "off"), ("random_seed", 0), ("presolve", "off")):
            self._highs.setOptionValue(name, value)
        self._highs.passModel(highs_lp(highspy, milp.A, milp.row_lower, milp.row_upper, *whole_bounds(milp)))
        self._columns = np.arange(milp.n, dtype=np.int32)
        self._basis: Any = None
        self.reference: Floats | None = None

    def refer_to(self, objective: Floats) -> None:
        """Take the optimal basis of this objective as the one that every solve starts from."""
        self._basis, self.reference = None, objective.copy()
        if self._run(objective) is not None:
            self._basis = self._highs.getBasis()

    def __call__(self, objective: Floats) -> Floats | None:
        """Row multipliers ``(rows,)`` at ``objective`` ``(n,)``; ``None`` where the relaxation has no optimum."""
        if self.reference is None:
            self.refer_to(objective)
        return self._run(objective)

    def _run(self, objective: Floats) -> Floats | None:
        highs, kinds = self._highs, self._highspy
        highs.clearSolver()
        if self._basis is not None:
            highs.setBasis(self._basis)
        highs.changeColsCost(len(objective), self._columns, objective)
        if highs.run() == kinds.HighsStatus.kError or highs.getModelStatus() != kinds.HighsModelStatus.kOptimal:
            return None
        y = np.asarray(highs.getSolution().row_dual, dtype=np.float64)
        return y if np.isfinite(y).all() else None
