"""A convex problem of cvxpy, as it is: an exact oracle for costs that are a Parameter of its objective."""

from __future__ import annotations

import hashlib
import threading
import warnings
from typing import Any, NoReturn

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.modeling.convex_gap import integer_gap, with_gap_closed
from regretless.modeling.cost_parameter import parameter_costs
from regretless.modeling.cvxpy import element_names, sorted_variables
from regretless.optional import need
from regretless.types import Sense, Solved, Status

SOLVER = "CLARABEL"  # comes with cvxpy and takes all cones; cvxpy itself prefers commercial solvers
ENDED = {"optimal": Status.OPTIMAL, "infeasible": Status.INFEASIBLE, "unbounded": Status.UNBOUNDED}
# The solver stopped early: where it is, nothing proves to be optimal, or even feasible. cvxpy calls it inaccurately
# infeasible where a limit of Gurobi leaves no solution.
STOPPED = ("optimal_inaccurate", "infeasible_inaccurate", "unbounded_inaccurate", "user_limit")
FEASIBLE = 1e-4


class ConvexProgram:
    """``min`` or ``max`` of ``c . g(x) + h(x)`` over a convex set, solved by a solver of cvxpy.

    ``c`` is the one Parameter of the objective and is predicted; ``g`` is affine. The known terms ``h`` may be any that
    cvxpy accepts; they are one more coordinate of the cost space. The problem is compiled once: a solve changes the
    value of the Parameter only. Threads take turns, since cvxpy keeps a solution in the variables. With integer
    variables, HiGHS, SciPy, SCIP and Gurobi tell the gap that they leave; of other solvers, "optimal" is taken as said.

    Args:
        model: a ``cvxpy.Problem``, which must not be changed afterwards. Its other Parameters need values.
        solver: name of a solver of cvxpy; Clarabel by default, and with integer variables what cvxpy chooses.
        options: settings of that solver, such as ``time_limit=1.0`` for Clarabel.

    Attributes:
        sense: of the objective.
        dimension: number d of predicted costs: the elements of the Parameter, row by row.
        width: columns of a solution: d, and one more where there are known terms.
        names: of all variables, in the order of decisions.
        cost_names: of the costs: the variables that they belong to, or else the elements of the Parameter.
        fingerprint: hash of the compiled problem.
        options: the solver and its settings, as they were given.

    Raises:
        InputError: the problem is not convex, its objective is not linear in one Parameter, or no solver takes it.
    """

    def __init__(self, model: Any, *, solver: str | None = None, **options: Any) -> None:
        cvxpy = need("cvxpy", pip="cvxpy", why="solve convex problems")
        self._variables = sorted_variables(model)
        self._costs = parameter_costs(model, self._variables)
        self.sense: Sense = "max" if isinstance(model.objective, cvxpy.Maximize) else "min"
        self._sign = 1.0 if self.sense == "min" else -1.0
        # Always minimized; the weight of the known terms is a cost like any other, and 0 where two of them cancel.
        self._weight = cvxpy.Parameter(nonneg=True, value=1.0)
        known = 0.0 if self._costs.known is None else self._weight * (self._sign * self._costs.known)
        self._problem = cvxpy.Problem(cvxpy.Minimize(self._costs.expression + known), model.constraints)
        if not self._problem.is_dcp(dpp=True):
            raise InputError(
                "the cvxpy problem is not convex by the rules of disciplined parametrized programming (DPP), so it "
                "cannot be compiled once for all costs"
            )
        self._integer = bool(self._problem.is_mixed_integer())
        self._solver = solver or (None if self._integer else SOLVER)
        # A warm start saves little, and makes the last digits depend on what was solved before.
        self._options, self._lock = {"warm_start": False} | options, threading.Lock()
        self.options = ({} if solver is None else {"solver": solver}) | options
        self.dimension = int(self._costs.parameter.size)
        self.width = self.dimension + int(self._costs.known is not None)
        self.names = tuple(name for variable in self._variables for name in element_names(variable))
        self.cost_names = self._costs.names(self.names)
        self.fingerprint = self._compile(cvxpy.error.SolverError)

    def __deepcopy__(self, memo: dict[int, Any]) -> ConvexProgram:
        return self  # copies of a problem or a loss share what is compiled, as threads do

    def __reduce__(self) -> NoReturn:
        raise InputError(
            "a convex cvxpy problem cannot be saved or sent to another process, since what its solver has compiled "
            "cannot: use threads, and build it again where it is needed"
        )

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, width)`` costs to minimize; see ``regretless.types.Backend``."""
        rows = costs.detach().cpu().to(torch.float64).numpy()
        x, solution = np.full((len(rows), len(self.names)), np.nan), np.full((len(rows), self.width), np.nan)
        status, gap, message = [Status.OPTIMAL] * len(rows), [np.inf] * len(rows), {}
        for k, row in enumerate(rows):
            with self._lock:
                status[k], gap[k], said = self._run(row)
                proven = status[k] in (Status.OPTIMAL, Status.FEASIBLE)
                if proven or (status[k] is Status.TIME_LIMIT and self._is_feasible()):
                    x[k] = np.concatenate([np.reshape(v.value, -1, order="C") for v in self._variables])
                    solution[k, : self.dimension] = self._costs.map @ x[k] + self._costs.offset
                    if self._costs.known is not None:
                        solution[k, -1] = self._costs.known.value
                else:
                    gap[k] = np.inf
            if said:
                message[k] = said
        return Solved.of_arrays(costs.device, solution, status, gap, message, x if decision else None)

    def _run(self, row: Floats) -> tuple[Status, float, str]:
        """Solve one row of costs: how it ended, the gap left, and why where it is not optimal."""
        row = row / (np.abs(row).max(initial=0.0) or 1.0)  # the solver's tolerances are absolute
        if self._costs.known is not None:
            weight = float(self._sign * row[-1])
            if weight < 0.0:
                return (
                    Status.ERROR,
                    np.inf,
                    "the known terms have a negative weight, with which the problem is not convex",
                )
            self._weight.value = weight
        parameter = self._costs.parameter
        parameter.value = np.reshape(row[: self.dimension], parameter.shape, order="C")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # cvxpy warns of what the status says
                self._problem.solve(solver=self._solver, **self._options)
        except Exception as error:  # a SolverError, or whatever the solver raises
            return Status.ERROR, np.inf, f"{type(error).__name__}: {error}"
        ended = str(self._problem.status)
        status = Status.TIME_LIMIT if ended in STOPPED else ENDED.get(ended, Status.ERROR)
        gap = 0.0 if status is Status.OPTIMAL else np.inf
        if self._integer and status in (Status.OPTIMAL, Status.TIME_LIMIT):
            found = integer_gap(self._problem.solver_stats.extra_stats, done=status is Status.OPTIMAL)
            status, gap = found or (status, gap)
        if status is Status.OPTIMAL:
            return status, gap, ""
        early = {
            Status.FEASIBLE: f" at a gap of {gap:.2g}, which the options of the solver allow",
            Status.TIME_LIMIT: ", before a solution was proven to be optimal",
        }
        return status, gap, f"cvxpy ended with '{ended}'{early.get(status, '')}"

    def _is_feasible(self) -> bool:
        """Whether the variables hold a point that no constraint excludes."""
        if any(variable.value is None for variable in self._variables):
            return False
        faults = [np.max(constraint.violation(), initial=0.0) for constraint in self._problem.constraints]
        faults += [np.abs(v.value - v.project(v.value)).max(initial=0.0) for v in self._variables]
        return bool(max(faults) <= FEASIBLE)

    def _compile(self, solver_error: type[Exception]) -> str:
        """Compile the problem, and return the hash of what the solver receives and of the map to the costs."""
        self._costs.parameter.value = np.zeros(self._costs.parameter.shape)
        try:
            data, chain, _ = self._problem.get_problem_data(self._solver)
        except solver_error as error:
            raise InputError(f"no installed solver of cvxpy takes this problem: {error}") from error
        if self._integer:
            self._solver = str(chain.solver.name())
            self._options = with_gap_closed(self._solver, self._options)
        digest = hashlib.sha256(f"regretless.ConvexProgram.1:{self.sense}".encode())
        parts = [data[key] for key in sorted(data) if key != "param_prob"]
        for part in [*parts, self._costs.map, self._costs.offset]:
            arrays: Any = sparse.find(part) if sparse.issparse(part) else [part]  # type: ignore[arg-type]
            for array in arrays:
                digest.update(array.tobytes() if isinstance(array, np.ndarray) else str(array).encode())
        return digest.hexdigest()[:32]
