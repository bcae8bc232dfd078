"""SCIP, through PySCIPOpt."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.optional import need
from regretless.solvers.engine import Outcome, finished, told_apart
from regretless.types import Status

# With its propagation of ranged rows SCIP 10 calls a solution optimal on some mixed models that is percents worse
# (tests/solvers/test_scip.py holds one).
DEFAULTS: dict[str, Any] = {
    "limits/gap": 0.0,
    "limits/absgap": 0.0,
    "lp/threads": 1,
    "constraints/linear/rangedrowpropagation": False,
}
LIMITS = ("timelimit", "nodelimit", "totalnodelimit", "stallnodelimit", "primallimit", "duallimit",
          "memlimit", "sollimit", "bestsollimit", "restartlimit")  # fmt: skip


class ScipEngine:
    """A new SCIP object for every solve.

    SCIP keeps state beyond ``freeTransform``: on 18 of 1,500 random models with ties a used object returned another
    optimum than a new one. Only a new object makes a solve depend on its own costs alone. Building one takes 7 ms and
    about 10 microseconds per non-zero of the model.
    """

    def __init__(self, milp: MILP, *, time_limit: float | None = None, **options: Any) -> None:
        self._scip = need("pyscipopt.scip", pip="pyscipopt", why="solve models with SCIP")
        self.milp = milp
        self._settings = DEFAULTS | ({} if time_limit is None else {"limits/time": float(time_limit)}) | options
        # SCIP accepts no empty row. An empty row that excludes zero makes the model infeasible.
        empty = np.diff(milp.A.indptr) == 0
        self._impossible = bool((empty & ((milp.row_lower > 0.0) | (milp.row_upper < 0.0))).any())
        self._unused: Any = self._built()  # an unknown option is refused here and not at the first solve

    def _built(self) -> tuple[Any, list[Any]]:
        """Return a new SCIP object with the model, and its variables."""
        scip, milp = self._scip, self.milp
        model = scip.Model()
        model.hideOutput()
        for name, value in self._settings.items():
            try:
                model.setParam(name, value)
            except (KeyError, ValueError, TypeError, LookupError) as error:
                raise InputError(f"SCIP does not know the option {name} = {value!r} ({error})") from error
        infinity = model.infinity()
        bounds = zip(milp.lower.tolist(), milp.upper.tolist(), milp.integer.tolist(), strict=True)
        variables = [
            model.addVar(vtype="I" if integer else "C", lb=max(low, -infinity), ub=min(high, infinity))
            for low, high, integer in bounds
        ]
        terms = [scip.Term(variable) for variable in variables]
        indptr, indices, data = milp.A.indptr.tolist(), milp.A.indices.tolist(), milp.A.data.tolist()
        rows = zip(milp.row_lower.tolist(), milp.row_upper.tolist(), strict=True)
        for row, (low, high) in enumerate(rows):
            part = slice(indptr[row], indptr[row + 1])
            if part.start < part.stop:
                expression = scip.Expr({terms[j]: a for j, a in zip(indices[part], data[part], strict=True)})
                model.addCons(scip.ExprCons(expression, max(low, -infinity), min(high, infinity)))
        return model, variables

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Minimize ``objective . x``."""
        if self._impossible:
            return Outcome(None, Status.INFEASIBLE, np.inf, "a row without variables excludes zero")
        (model, variables), self._unused = self._unused or self._built(), None
        terms = (self._scip.Term(variable) for variable in variables)
        model.setObjective(self._scip.Expr(dict(zip(terms, objective.tolist(), strict=True))), "minimize")
        if start is not None:
            point = model.createSol()
            for variable, value in zip(variables, start.tolist(), strict=True):
                model.setSolVal(point, variable, value)
            model.addSol(point)
        getattr(model, "optimizeNogil", model.optimize)()
        return self._outcome(model, variables, objective)

    def _outcome(self, model: Any, variables: list[Any], objective: Floats) -> Outcome:
        text = str(model.getStatus())
        if text == "userinterrupt":
            # SCIP caught an interrupt that is meant for Python.
            raise KeyboardInterrupt
        if text in ("unbounded", "inforunbd"):
            if not objective.any():
                return Outcome(None, Status.ERROR, np.inf, f"SCIP ended with '{text}' on an objective of zeros")
            return Outcome(None, told_apart(self.solve(np.zeros(self.milp.n)).status), np.inf, f"SCIP: {text}")
        if text == "infeasible":
            return Outcome(None, Status.INFEASIBLE, np.inf, f"SCIP: {text}")
        done = text in ("optimal", "gaplimit")
        if not done and text not in LIMITS:
            return Outcome(None, Status.ERROR, np.inf, f"SCIP ended with '{text}'")
        if model.getNSols() == 0:
            return Outcome(None, Status.ERROR if done else Status.TIME_LIMIT, np.inf, f"SCIP: {text}")
        best = model.getBestSol()
        x = np.array([model.getSolVal(best, variable) for variable in variables])
        value, bound = float(model.getPrimalbound()), float(model.getDualbound())
        status, gap = finished(value, bound, done=done)
        return Outcome(x, status, gap, "" if status is Status.OPTIMAL else f"SCIP: {text}")


build = ScipEngine  # the entry point of the table of engines
