"""Gurobi, through gurobipy."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from regretless.errors import InputError, SolveError
from regretless.milp import MILP, Floats
from regretless.optional import need
from regretless.solvers.engine import Outcome, finished, told_apart
from regretless.types import Status

DEFAULTS: dict[str, Any] = {"Threads": 1, "Seed": 0, "MIPGap": 0.0, "MIPGapAbs": 0.0}
NO_LICENSE, TOO_LARGE = 10009, 10010
_LOCAL = threading.local()


class GurobiEngine:
    """One Gurobi model that is kept; only the objective changes between solves, and each starts from scratch.

    Raises:
        SolveError: there is no license. The free one that comes with gurobipy solves models of up to 2,000 variables
            and 2,000 rows.
    """

    def __init__(self, milp: MILP, *, time_limit: float | None = None, **options: Any) -> None:
        self._gurobi = need("gurobipy", pip="gurobipy", why="solve models with Gurobi")
        self.milp = milp
        self._is_mip = bool(milp.integer.any())
        self._model = self._gurobi.Model(env=_environment(self._gurobi))
        settings = DEFAULTS | ({} if time_limit is None else {"TimeLimit": float(time_limit)}) | options
        for name, value in settings.items():
            try:
                self._model.setParam(name, value)
            except (self._gurobi.GurobiError, AttributeError, TypeError, ValueError) as error:
                raise InputError(f"Gurobi does not know the option {name} = {value!r} ({error})") from error
        self._pass_model()

    def _pass_model(self) -> None:
        model, milp = self._model, self.milp
        kinds = np.where(milp.integer, "I", "C")
        self._x = model.addMVar(milp.n, lb=milp.lower, ub=milp.upper, vtype=kinds)
        for sense, rows, bound in _halves(milp):
            if rows.size:
                model.addMConstr(milp.A[rows], self._x, sense, bound[rows])
        model.ModelSense = self._gurobi.GRB.MINIMIZE
        model.update()

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Minimize ``objective . x``."""
        model, gurobi = self._model, self._gurobi
        model.reset(1)
        self._x.Obj = objective
        if start is not None and self._is_mip:
            self._x.Start = start
        try:
            model.optimize()
        except gurobi.GurobiError as error:
            return Outcome(None, Status.ERROR, np.inf, self._explain(error))
        return self._outcome(objective)

    def _outcome(self, objective: Floats) -> Outcome:
        model, kinds = self._model, self._gurobi.GRB.Status
        code = model.Status
        if code == kinds.INTERRUPTED:
            raise KeyboardInterrupt
        if code in (kinds.UNBOUNDED, kinds.INF_OR_UNBD):
            # Gurobi's 'unbounded' is a ray: whether there is a feasible point to start it from is another question.
            if not objective.any():
                return Outcome(None, Status.ERROR, np.inf, f"Gurobi ended with status {code} on an objective of zeros")
            status = told_apart(self.solve(np.zeros(self.milp.n)).status)
            return Outcome(None, status, np.inf, f"Gurobi: status {code}")
        if code == kinds.INFEASIBLE:
            return Outcome(None, Status.INFEASIBLE, np.inf, "Gurobi: infeasible")
        limits = (kinds.TIME_LIMIT, kinds.NODE_LIMIT, kinds.ITERATION_LIMIT, kinds.SOLUTION_LIMIT, kinds.WORK_LIMIT,
                  kinds.MEM_LIMIT, kinds.USER_OBJ_LIMIT)  # fmt: skip
        if code != kinds.OPTIMAL and code not in limits:
            return Outcome(None, Status.ERROR, np.inf, f"Gurobi ended with status {code}")
        done, text = code == kinds.OPTIMAL, f"Gurobi: status {code}"
        if model.SolCount == 0:
            return Outcome(None, Status.ERROR if done else Status.TIME_LIMIT, np.inf, text)
        x = np.asarray(self._x.X)
        if not self._is_mip:
            return Outcome(x, Status.OPTIMAL) if done else Outcome(x, Status.TIME_LIMIT, np.inf, text)
        value, bound = float(model.ObjVal), float(model.ObjBound)
        status, gap = finished(value, bound, done=done)
        return Outcome(x, status, gap, "" if status is Status.OPTIMAL else text)

    def _explain(self, error: Any) -> str:
        if error.errno == TOO_LARGE:
            rows, n = self.milp.A.shape
            return (
                f"Gurobi's free license solves models of up to 2,000 variables and 2,000 rows, this one has {n} and "
                f"{rows}; get a license from gurobi.com, or use engine='highs'"
            )
        return f"Gurobi failed: {error}"


def _environment(gurobi: Any) -> Any:
    """One environment per thread: threads must not share one, and each may use up a license."""
    if not hasattr(_LOCAL, "environment"):
        try:
            environment = gurobi.Env(empty=True)
            # before the start, because the start itself prints
            environment.setParam("OutputFlag", 0)
            environment.start()
        except gurobi.GurobiError as error:
            what = "found no license" if error.errno == NO_LICENSE else "does not start"
            raise SolveError(
                f"Gurobi {what}: {error}; see gurobi.com for one, or use engine='highs', which needs none"
            ) from error
        _LOCAL.environment = environment
    return _LOCAL.environment


def _halves(milp: MILP) -> list[tuple[str, Any, Floats]]:
    """Rows in Gurobi's form: equalities and one-sided rows; a range becomes two, without a new variable."""
    low, high = milp.row_lower, milp.row_upper
    equal = low == high
    return [
        ("=", np.flatnonzero(equal), low),
        ("<", np.flatnonzero(~equal & np.isfinite(high)), high),
        (">", np.flatnonzero(~equal & np.isfinite(low)), low),
    ]


build = GurobiEngine  # the entry point of the table of engines
