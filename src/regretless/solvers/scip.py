"""SCIP, through PySCIPOpt."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.optional import need
from regretless.solvers.engine import Outcome, guarded, relative_gap, told_apart
from regretless.types import Status

# SCIP may hand the solutions of one solve to the next as starting points: off, so that an answer depends on its costs
# alone and not on how instances are shared out among workers. SCIP's own gap limit is zero already.
DEFAULTS: dict[str, Any] = {"limits/gap": 0.0, "limits/absgap": 0.0, "lp/threads": 1, "misc/transsolsorig": False}
LIMITS = ("timelimit", "nodelimit", "totalnodelimit", "stallnodelimit", "gaplimit", "primallimit", "duallimit",
          "memlimit", "sollimit", "bestsollimit", "restartlimit")  # fmt: skip


class ScipEngine:
    """One SCIP model that is kept; only the objective changes between solves."""

    def __init__(self, milp: MILP, *, time_limit: float | None = None, **options: Any) -> None:
        self._scip = need("pyscipopt.scip", pip="pyscipopt", why="solve models with SCIP")
        self.milp = milp
        self._settings = DEFAULTS | ({} if time_limit is None else {"limits/time": float(time_limit)}) | options
        # SCIP takes no empty row, and one that excludes zero excludes everything.
        empty = np.diff(milp.A.indptr) == 0
        self._impossible = bool((empty & ((milp.row_lower > 0.0) | (milp.row_upper < 0.0))).any())
        self._started = False
        self._build()

    def _build(self) -> None:
        scip, milp = self._scip, self.milp
        self._model = model = scip.Model()
        model.hideOutput()
        for name, value in self._settings.items():
            try:
                model.setParam(name, value)
            except (KeyError, ValueError, TypeError, LookupError) as error:
                raise InputError(f"SCIP does not know the option {name} = {value!r} ({error})") from error
        infinity = model.infinity()
        bounds = zip(milp.lower.tolist(), milp.upper.tolist(), milp.integer.tolist(), strict=True)
        self._variables = [
            model.addVar(vtype="I" if whole else "C", lb=max(low, -infinity), ub=min(high, infinity))
            for low, high, whole in bounds
        ]
        self._terms = [scip.Term(variable) for variable in self._variables]
        indptr, indices, data = milp.A.indptr.tolist(), milp.A.indices.tolist(), milp.A.data.tolist()
        rows = zip(milp.row_lower.tolist(), milp.row_upper.tolist(), strict=True)
        for row, (low, high) in enumerate(rows):
            part = slice(indptr[row], indptr[row + 1])
            expression = scip.Expr({self._terms[j]: a for j, a in zip(indices[part], data[part], strict=True)})
            if part.start < part.stop:
                model.addCons(scip.ExprCons(expression, max(low, -infinity), min(high, infinity)))

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Minimise ``objective . x``."""
        if self._impossible:
            return Outcome(None, Status.INFEASIBLE, np.inf, "a row without variables excludes zero")
        # SCIP never forgets a starting point that it was given, so the model that got one is not used again.
        if self._started:
            self._build()
        self._started = start is not None
        model = self._model
        model.freeTransform()
        model.setObjective(self._scip.Expr(dict(zip(self._terms, objective.tolist(), strict=True))), "minimize")
        if start is not None:
            point = model.createSol()
            for variable, value in zip(self._variables, start.tolist(), strict=True):
                model.setSolVal(point, variable, value)
            model.addSol(point)
        getattr(model, "optimizeNogil", model.optimize)()
        return self._outcome(objective)

    def _outcome(self, objective: Floats) -> Outcome:
        model = self._model
        text = str(model.getStatus())
        if text == "userinterrupt":
            # SCIP caught the interrupt that was meant for Python.
            raise KeyboardInterrupt
        if text in ("unbounded", "inforunbd"):
            if not objective.any():
                return Outcome(None, Status.ERROR, np.inf, f"SCIP ended with '{text}' on an objective of zeros")
            return Outcome(None, told_apart(self.solve(np.zeros(self.milp.n)).status), np.inf, f"SCIP: {text}")
        if text == "infeasible":
            return Outcome(None, Status.INFEASIBLE, np.inf, f"SCIP: {text}")
        if text != "optimal" and text not in LIMITS:
            return Outcome(None, Status.ERROR, np.inf, f"SCIP ended with '{text}'")
        status = Status.OPTIMAL if text == "optimal" else Status.TIME_LIMIT
        if model.getNSols() == 0:
            return Outcome(None, Status.ERROR if status is Status.OPTIMAL else status, np.inf, f"SCIP: {text}")
        best = model.getBestSol()
        x = np.array([model.getSolVal(best, variable) for variable in self._variables])
        if status is Status.OPTIMAL:
            return guarded(self.milp, x, status)
        gap = relative_gap(float(model.getPrimalbound()), float(model.getDualbound()))
        return guarded(self.milp, x, status, gap, f"SCIP: {text}")


def build(milp: MILP, *, time_limit: float | None = None, **options: Any) -> ScipEngine:
    """Build the engine (the entry point of the table of engines)."""
    return ScipEngine(milp, time_limit=time_limit, **options)
