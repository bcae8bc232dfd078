"""CP-SAT, through OR-Tools: integer variables, integer coefficients, and costs that are scaled to integers.

A cost vector becomes integers by a power of two. Where every cost is a multiple of it (integers, halves, prices in
dyadic steps), the scaling is exact and the gap is 0. Elsewhere the scale is the largest one that keeps every objective
below 2**53, and the rounding changes the optimum by at most ``sum |residual_i| (upper_i - lower_i) / scale``. That
bound, relative to the objective, is the gap that is reported; an answer whose bound is worse than 1e-6 is refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.optional import need
from regretless.solvers.engine import Outcome, finished
from regretless.solvers.integer_rows import integer_bounds, integer_rows
from regretless.types import Status

# Ctrl-C is for the caller: CP-SAT would end its solve without an answer and swallow the signal.
DEFAULTS: dict[str, Any] = {
    "num_workers": 1, "random_seed": 0, "relative_gap_limit": 0.0, "absolute_gap_limit": 0.0,
    "catch_sigint_signal": False,
}  # fmt: skip
BITS = 53
WORST_ROUNDING = 1e-6


class CpSatEngine:
    """One CP-SAT model that is kept; only the objective changes between solves.

    Attributes:
        scale: the power of two that made the last costs integers.
        exact: CP-SAT works in integers, so its answers need no proof.

    Raises:
        InputError: a variable is continuous or has no bound, or a row has coefficients that are no fractions.
    """

    exact = True

    def __init__(self, milp: MILP, *, time_limit: float | None = None, **options: Any) -> None:
        self._cp = need("ortools.sat.python.cp_model", pip="ortools", why="solve models with CP-SAT")
        self.milp, self.scale = milp, 1.0
        self._lower, self._upper = integer_bounds(milp)
        self._settings = DEFAULTS | ({} if time_limit is None else {"max_time_in_seconds": float(time_limit)}) | options
        # bounds such as 0.2 <= x <= 0.8 hold no integer, and CP-SAT has no empty domain
        self._infeasible = ""
        if (self._lower > self._upper).any():
            self._infeasible = "the bounds of an integer variable hold no integer"
        self._model = self._cp.CpModel()
        self._solver()
        if not self._infeasible:
            self._pass_model()

    def _pass_model(self) -> None:
        model = self._model
        pairs = zip(self._lower.tolist(), self._upper.tolist(), strict=True)
        self._x = [model.new_int_var(int(low), int(high), "") for low, high in pairs]
        for row in integer_rows(self.milp, self._lower, self._upper):
            if row.lower > row.upper:  # CP-SAT ignores it where the row has no variable
                self._infeasible = "the bounds of a row of integers hold no integer"
            variables = [self._x[j] for j in row.columns]
            expression = self._cp.LinearExpr.weighted_sum(variables, row.coefficients)
            model.add_linear_expression_in_domain(expression, self._cp.Domain(row.lower, row.upper))

    def _solver(self) -> Any:
        solver = self._cp.CpSolver()
        for name, value in self._settings.items():
            try:
                getattr(solver.parameters, name)
                setattr(solver.parameters, name, value)
            except (AttributeError, TypeError, ValueError) as error:
                raise InputError(f"CP-SAT does not know the option {name} = {value!r} ({error})") from error
        return solver

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Minimize ``objective . x``."""
        if self._infeasible:
            return Outcome(None, Status.INFEASIBLE, np.inf, self._infeasible)
        costs, self.scale, lost = scaled(objective, self._lower, self._upper)
        model, solver = self._model, self._solver()
        model.clear_objective()
        model.minimize(self._cp.LinearExpr.weighted_sum(self._x, costs))
        model.clear_hints()
        if start is not None:
            for variable, value in zip(self._x, np.round(start).astype(np.int64).tolist(), strict=True):
                model.add_hint(variable, value)
        return self._outcome(solver, solver.solve(model), objective, lost)

    def _outcome(self, solver: Any, code: Any, objective: Floats, lost: float) -> Outcome:
        cp, text = self._cp, f"CP-SAT: {solver.status_name(code)}"
        if code == cp.INFEASIBLE:
            return Outcome(None, Status.INFEASIBLE, np.inf, text)
        if code == cp.UNKNOWN:
            return Outcome(None, Status.TIME_LIMIT, np.inf, text)
        # After any other status the values are undefined.
        if code not in (cp.OPTIMAL, cp.FEASIBLE):
            return Outcome(None, Status.ERROR, np.inf, f"CP-SAT ended with {solver.status_name(code)}")
        x = np.array([solver.value(variable) for variable in self._x], dtype=np.float64)
        rounding = lost / max(abs(float(objective @ x)), float(np.abs(objective).max())) if lost else 0.0
        if code == cp.OPTIMAL and rounding > WORST_ROUNDING:
            return Outcome(
                None,
                Status.ERROR,
                rounding,
                f"CP-SAT needs integer costs: scaled by {self.scale:g} to stay below 2**{BITS}, the optimum may be off "
                f"by {rounding:.1g} of it. Give the variables narrower bounds, or use engine='highs'",
            )
        status, gap = finished(solver.objective_value, solver.best_objective_bound, done=code == cp.OPTIMAL)
        return Outcome(x, status, gap + rounding, "" if status is Status.OPTIMAL else text)


def scaled(objective: Floats, lower: Floats, upper: Floats) -> tuple[list[int], float, float]:
    """Scale costs to integers by a power of two.

    Args:
        objective: ``(n,)`` finite costs.
        lower, upper: ``(n,)`` integer bounds of the variables.

    Returns:
        The integer costs, the scale, and a bound on what the rounding can change (0 where it is exact).
    """
    reach = float((np.abs(objective) * np.maximum(1.0, np.maximum(np.abs(lower), np.abs(upper)))).sum())
    if reach == 0.0:
        return [0] * len(objective), 1.0, 0.0
    # one bit less than the power of two below: rounding adds up to half a unit per term; 1023 is float64's last power
    largest = math.ldexp(1.0, min(BITS - 1 - math.frexp(reach)[1], 1023))
    integers, scale = np.round(objective * largest), largest
    lost = float((np.abs(objective * scale - integers) * (upper - lower)).sum()) / scale
    if lost == 0.0:
        # small numbers make CP-SAT faster: divide by the common power of two
        common = math.gcd(*[int(value) for value in integers])
        power = common & -common
        integers, scale = integers / power, scale / power
    return [int(value) for value in integers], scale, lost


build = CpSatEngine  # the entry point of the table of engines
