"""HiGHS: the default engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.milp import MILP, TOLERANCE, Floats
from regretless.optional import need
from regretless.solvers.engine import Outcome, finished, told_apart
from regretless.types import Status

# The feasibility jump takes more time than it saves on models of this size, and the default gap of 1e-4 calls wrong
# solutions optimal. Both were measured on the paper's problems.
# Coefficients below 1e-9 count as zero by default, also where they are multiplied with values of 1e9 and more.
DEFAULTS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
    "mip_heuristic_run_feasibility_jump": False,
    "small_matrix_value": 1e-12,
}
# Of linear programs that are solved again and again with small changes.
BARE: dict[str, Any] = {"output_flag": False, "threads": 1, "parallel": "off", "presolve": "off", "random_seed": 0}


class HighsEngine:
    """One HiGHS object that keeps its model; only the objective changes between solves.

    Every solve starts from the same state, whatever was solved before, so that results do not depend on how instances
    are distributed among workers. A linear program may start warm (``warm=True``): from one reference basis, optimal
    where all costs are 1. That is nearly as fast as from the last basis and does not depend on earlier solves.
    """

    def __init__(self, milp: MILP, *, time_limit: float | None = None, warm: bool = False, **options: Any) -> None:
        highspy = need("highspy", pip="highspy<1.15", why="solve models with HiGHS")
        self.milp, self.warm = milp, warm
        self._highspy = highspy
        self._highs = highspy.Highs()
        # HiGHS 1.14.0 presolves some models with integer and continuous variables to a worse point and calls it optimal
        # (its issue 3043, fixed in 1.15).
        mixed = milp.integer.any() and not milp.integer.all()
        safe: dict[str, Any] = {"presolve": "off"} if mixed and self._highs.version() == "1.14.0" else {}
        if milp.integer.any():
            safe["mip_feasibility_tolerance"] = _tolerance(milp, mixed)
        settings = DEFAULTS | safe | ({} if time_limit is None else {"time_limit": float(time_limit)}) | options
        # first of all, because setOptionValue itself prints
        self._highs.setOptionValue("output_flag", settings.pop("output_flag"))
        for name, value in settings.items():
            if self._highs.setOptionValue(name, value) == highspy.HighsStatus.kError:
                raise InputError(f"HiGHS does not know the option {name} = {value!r}")
        model = pass_model(self._highs, milp)
        lower, upper = np.ceil(milp.lower - TOLERANCE), np.floor(milp.upper + TOLERANCE)
        self._empty = bool((lower > upper)[milp.integer].any())
        self._columns = np.arange(milp.n, dtype=np.int32)
        self._is_mip = bool(milp.integer.any())
        # HiGHS scales a linear program at its first solve and keeps the factors: the last digits of later answers would
        # depend on that solve. Where all begin with the reference basis, so do the factors.
        self._passed_again = None if self._is_mip or warm else model
        self._basis: Any = None

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Minimize ``objective . x``."""
        if self._empty:
            return Outcome(None, Status.INFEASIBLE, np.inf, "the bounds of an integer variable hold no integer")
        highs, highspy = self._highs, self._highspy
        basis = self._reference_basis() if self.warm and not self._is_mip else None
        if self._passed_again is None:
            highs.clearSolver()
        else:
            highs.passModel(self._passed_again)
        if basis is not None:
            highs.setBasis(basis)
        highs.changeColsCost(len(objective), self._columns, objective)
        if start is not None and self._is_mip:
            solution = highspy.HighsSolution()
            solution.col_value = list(start)
            highs.setSolution(solution)
        run = highs.run()
        model_status = highs.getModelStatus()
        # After an error HiGHS still shows the previous solution: it must not be read then.
        if run == highspy.HighsStatus.kError:
            return Outcome(None, Status.ERROR, np.inf, f"HiGHS failed: {highs.modelStatusToString(model_status)}")
        status, message = self._status(model_status, objective)
        info = highs.getInfo()
        has_solution = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        if has_solution and status in (Status.OPTIMAL, Status.TIME_LIMIT):
            x, gap = np.asarray(highs.getSolution().col_value), 0.0
            if status is Status.TIME_LIMIT:
                gap = float(info.mip_gap) if self._is_mip else np.inf
            elif self._is_mip:
                status, gap = finished(info.objective_function_value, info.mip_dual_bound)
            return Outcome(x, status, gap, "" if status is Status.OPTIMAL else message)
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

    def _status(self, model_status: Any, objective: Floats) -> tuple[Status, str]:
        kinds = self._highspy.HighsModelStatus
        text = str(self._highs.modelStatusToString(model_status))
        if model_status in (kinds.kOptimal, kinds.kModelEmpty):
            return Status.OPTIMAL, text
        if model_status in (kinds.kTimeLimit, kinds.kIterationLimit, kinds.kSolutionLimit):
            return Status.TIME_LIMIT, text
        if model_status == kinds.kInfeasible:
            # HiGHS 1.14 presolves some unbounded linear programs to infeasible ones.
            if self._is_mip or not objective.any() or self.solve(np.zeros(self.milp.n)).status is not Status.OPTIMAL:
                return Status.INFEASIBLE, text
            return Status.UNBOUNDED, "Unbounded"
        # Of a mixed-integer program only the relaxation is known to be unbounded, not that it has an integer point.
        if model_status == kinds.kUnbounded and not self._is_mip:
            return Status.UNBOUNDED, text
        if model_status in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible):
            # Presolve cannot distinguish the two: solve once more with no objective.
            return told_apart(self.solve(np.zeros(self.milp.n)).status), text
        return Status.ERROR, f"HiGHS ended with '{text}'"


def _tolerance(milp: MILP, mixed: bool) -> float:
    """Tolerance of integers and rows, such that a coefficient times it stays below one unit.

    With 1e-6 and a coefficient of 1e7 an integer variable may be 10 units off in its row: switches of a big M let
    something through, and HiGHS excludes feasible points as infeasible.
    """
    # Continuous variables exploit the tolerance of rows in full: with the default of 1e-6 answers lie outside by that
    # much, and are better than the optimum.
    usual, least = (1e-8, 1e-9) if mixed else (1e-6, 1e-10)
    largest = float(abs(milp.A).max()) if milp.A.nnz else 0.0
    return usual if usual * largest <= 0.1 else max(0.1 / largest, least)


def bare_highs(why: str) -> tuple[Any, Any]:
    """The package highspy, and a HiGHS object without a model for linear programs; ``why`` is as for ``need``."""
    highspy = need("highspy", pip="highspy<1.15", why=why)
    highs = highspy.Highs()
    for name, value in BARE.items():  # silence first: setOptionValue itself prints
        highs.setOptionValue(name, value)
    return highspy, highs


class ProgramError(RuntimeError):
    """HiGHS ended without an optimum of a linear program, and without a proof that there is none."""


def run_program(highspy: Any, highs: Any) -> bool:
    """Solve the linear program of a HiGHS object, which is bounded; whether it has a solution.

    Raises:
        ProgramError: HiGHS does not know.
    """
    kinds = highspy.HighsModelStatus
    for _ in range(2):
        run, status = highs.run(), highs.getModelStatus()
        if run != highspy.HighsStatus.kError and status in (kinds.kOptimal, kinds.kInfeasible):
            return bool(status == kinds.kOptimal)
        highs.clearSolver()  # from the last basis it fails on some degenerate programs, and without a basis it does not
    raise ProgramError(f"HiGHS ended a linear program with '{highs.modelStatusToString(status)}'")


def pass_model(highs: Any, milp: MILP, *, relaxed: bool = False) -> Any:
    """Pass a model, or its linear relaxation, to a HiGHS object, with zero costs, and return it as HiGHS takes it.

    Raises:
        InputError: HiGHS refuses the model.
    """
    highspy = need("highspy", pip="highspy<1.15", why="solve models with HiGHS")
    # HiGHS 1.14 reports some feasible models as infeasible if an integer variable has fractional bounds.
    lower, upper = milp.integer_bounds()
    integer = None if relaxed else milp.integer
    lp = highs_lp(highspy, milp.A, milp.row_lower, milp.row_upper, lower, upper, integer)
    if highs.passModel(lp) == highspy.HighsStatus.kError:
        raise InputError("HiGHS refuses the model; check its bounds and coefficients")
    return lp


def highs_lp(
    highspy: Any, A: Any, row_lower: Floats, row_upper: Floats, lower: Floats, upper: Floats, integer: Any = None
) -> Any:
    """A model without an objective, as HiGHS takes it."""
    columns, lp = A.tocsc(), highspy.HighsLp()
    lp.num_row_, lp.num_col_ = A.shape
    lp.col_cost_ = np.zeros(A.shape[1])
    lp.col_lower_, lp.col_upper_ = lower, upper
    lp.row_lower_, lp.row_upper_ = row_lower, row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = columns.indptr.astype(np.int32)
    lp.a_matrix_.index_ = columns.indices.astype(np.int32)
    lp.a_matrix_.value_ = columns.data
    if integer is not None and integer.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(flag)] for flag in integer]
    return lp


build = HighsEngine  # the entry point of the table of engines
