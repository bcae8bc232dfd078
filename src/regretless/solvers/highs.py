"""HiGHS: the default engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.milp import MILP, TOLERANCE, Floats
from regretless.optional import need
from regretless.solvers.engine import Outcome, guarded, told_apart
from regretless.types import Status

# The feasibility jump costs more than it finds on models of this size; the default gap of 1e-4 calls wrong solutions
# optimal. Both were measured on the paper's problems.
DEFAULTS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
    "mip_heuristic_run_feasibility_jump": False,
}


class HighsEngine:
    """One HiGHS object that keeps its model; only the objective changes between solves.

    Every solve starts from the same state, whatever was solved before, so that results do not depend on how instances
    are shared out among workers. A linear programme may start warm (``warm=True``): from one reference basis, optimal
    where all costs are 1, which is nearly as fast as from the last one and does not depend on what that was.
    """

    def __init__(self, milp: MILP, *, time_limit: float | None = None, warm: bool = False, **options: Any) -> None:
        highspy = need("highspy", pip="highspy<1.15", why="solve models with HiGHS")
        self.milp, self.warm = milp, warm
        self._highspy = highspy
        self._highs = highspy.Highs()
        # HiGHS 1.14.0 presolves some models with whole and continuous variables to a worse point and calls it optimal
        # (its issue 3043, mended in 1.15).
        mixed = milp.integer.any() and not milp.integer.all()
        safe = {"presolve": "off"} if mixed and self._highs.version() == "1.14.0" else {}
        settings = DEFAULTS | safe | ({} if time_limit is None else {"time_limit": float(time_limit)}) | options
        # silence first: setOptionValue itself prints
        self._highs.setOptionValue("output_flag", settings.pop("output_flag"))
        for name, value in settings.items():
            if self._highs.setOptionValue(name, value) == highspy.HighsStatus.kError:
                raise InputError(f"HiGHS does not know the option {name} = {value!r}")
        pass_model(self._highs, milp)
        lower, upper = np.ceil(milp.lower - TOLERANCE), np.floor(milp.upper + TOLERANCE)
        self._empty = bool((lower > upper)[milp.integer].any())
        self._columns = np.arange(milp.n, dtype=np.int32)
        self._is_mip = bool(milp.integer.any())
        self._basis: Any = None

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Minimise ``objective . x``."""
        if self._empty:
            return Outcome(None, Status.INFEASIBLE, np.inf, "the bounds of a whole variable hold no whole number")
        highs, highspy = self._highs, self._highspy
        basis = self._reference_basis() if self.warm and not self._is_mip else None
        highs.clearSolver()
        if basis is not None:
            highs.setBasis(basis)
        highs.changeColsCost(len(objective), self._columns, objective)
        if start is not None and self._is_mip:
            solution = highspy.HighsSolution()
            solution.col_value = list(start)
            highs.setSolution(solution)
        run = highs.run()
        model_status = highs.getModelStatus()
        # On an error HiGHS leaves the previous solution readable: never look at it then.
        if run == highspy.HighsStatus.kError:
            return Outcome(None, Status.ERROR, message=f"HiGHS failed: {highs.modelStatusToString(model_status)}")
        status, message = self._status(model_status)
        info = highs.getInfo()
        has_solution = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        if status is Status.OPTIMAL and has_solution:
            return guarded(self.milp, np.asarray(highs.getSolution().col_value), status)
        if status is Status.TIME_LIMIT and has_solution:
            x = np.asarray(highs.getSolution().col_value)
            gap = float(info.mip_gap) if self._is_mip else np.inf
            return guarded(self.milp, x, status, gap, message)
        return Outcome(None, Status.ERROR if status is Status.OPTIMAL else status, np.inf, message)

    def _reference_basis(self) -> Any:
        if self._basis is None:
            objective = self.milp.objective(np.ones((1, self.milp.width)))[0]
            self._highs.changeColsCost(self.milp.n, self._columns, objective)
            self._highs.run()
            found = self._highs.getBasis()  # a view of what the next solve will change
            self._basis = self._highspy.HighsBasis()
            self._basis.col_status, self._basis.row_status = list(found.col_status), list(found.row_status)
            self._basis.valid = found.valid
        return self._basis

    def _status(self, model_status: Any) -> tuple[Status, str]:
        kinds = self._highspy.HighsModelStatus
        text = str(self._highs.modelStatusToString(model_status))
        if model_status in (kinds.kOptimal, kinds.kModelEmpty):
            return Status.OPTIMAL, text
        if model_status in (kinds.kTimeLimit, kinds.kIterationLimit, kinds.kSolutionLimit):
            return Status.TIME_LIMIT, text
        if model_status == kinds.kInfeasible:
            return Status.INFEASIBLE, text
        # Of a mixed-integer programme only the relaxation is known to be unbounded, not that it has a whole point.
        if model_status == kinds.kUnbounded and not self._is_mip:
            return Status.UNBOUNDED, text
        if model_status in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible):
            return self._unbounded_or_infeasible(), text
        return Status.ERROR, f"HiGHS ended with '{text}'"

    def _unbounded_or_infeasible(self) -> Status:
        """Presolve cannot tell the two apart: solve once more with no objective."""
        return told_apart(self.solve(np.zeros(self.milp.n)).status)


def pass_model(highs: Any, milp: MILP, *, relaxed: bool = False) -> None:
    """Pass a model to a HiGHS object, with an objective of zeros; ``relaxed`` leaves integrality out.

    Raises:
        InputError: HiGHS refuses the model.
    """
    highspy = need("highspy", pip="highspy<1.15", why="solve models with HiGHS")
    columns = milp.A.tocsc()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = milp.n, milp.A.shape[0]
    lp.col_cost_ = np.zeros(milp.n)
    # HiGHS 1.14 reports some feasible models as infeasible if an integer variable has fractional bounds.
    lp.col_lower_, lp.col_upper_ = milp.integer_bounds()
    lp.row_lower_, lp.row_upper_ = milp.row_lower, milp.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = columns.indptr.astype(np.int32)
    lp.a_matrix_.index_ = columns.indices.astype(np.int32)
    lp.a_matrix_.value_ = columns.data
    if milp.integer.any() and not relaxed:
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(flag)] for flag in milp.integer]
    if highs.passModel(lp) == highspy.HighsStatus.kError:
        raise InputError("HiGHS refuses the model; check its bounds and coefficients")


def build(milp: MILP, *, time_limit: float | None = None, **options: Any) -> HighsEngine:
    """Build the engine (the entry point of the table of engines)."""
    return HighsEngine(milp, time_limit=time_limit, **options)
