"""CP-SAT, through OR-Tools: whole variables, whole coefficients, and costs that are scaled to whole numbers.

A cost vector becomes integers by a power of two. Where every cost is a multiple of it (integers, halves, prices in
dyadic steps), nothing is lost and the gap is 0. Elsewhere the largest scale is taken that keeps every objective below
2**53, and the rounding can cost at most ``sum |residual_i| (upper_i - lower_i) / scale``: that bound, relative to the
objective, is reported as the gap, and an answer whose bound is worse than 1e-6 is refused rather than called optimal.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.optional import need
from regretless.solvers.engine import Outcome, guarded, relative_gap
from regretless.solvers.integral import whole_bounds, whole_rows
from regretless.types import Status

DEFAULTS: dict[str, Any] = {"num_workers": 1, "random_seed": 0, "relative_gap_limit": 0.0, "absolute_gap_limit": 0.0}
BITS = 53
WORST_ROUNDING = 1e-6


class CpSatEngine:
    """One CP-SAT model that is kept; only the objective changes between solves.

    Attributes:
        scale: the power of two that made the last costs whole.

    Raises:
        InputError: a variable is continuous or has no bound, or a row has coefficients that are no fractions.
    """

    def __init__(self, milp: MILP, *, time_limit: float | None = None, **options: Any) -> None:
        self._cp = need("ortools.sat.python.cp_model", pip="ortools", why="solve models with CP-SAT")
        self.milp, self.scale = milp, 1.0
        self._lower, self._upper = whole_bounds(milp)
        self._settings = DEFAULTS | ({} if time_limit is None else {"max_time_in_seconds": float(time_limit)}) | options
        # bounds such as 0.2 <= x <= 0.8 leave no whole number, and CP-SAT has no empty domain
        self._empty = bool((self._lower > self._upper).any())
        self._model = self._cp.CpModel()
        self._solver()
        if not self._empty:
            self._pass_model()

    def _pass_model(self) -> None:
        model = self._model
        pairs = zip(self._lower.tolist(), self._upper.tolist(), strict=True)
        self._x = [model.new_int_var(int(low), int(high), "") for low, high in pairs]
        for row in whole_rows(self.milp, self._lower, self._upper):
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
        """Minimise ``objective . x``."""
        if self._empty:
            return Outcome(None, Status.INFEASIBLE, np.inf, "a variable's bounds hold no whole number")
        whole, self.scale, lost = scaled(objective, self._lower, self._upper)
        model, solver = self._model, self._solver()
        model.clear_objective()
        model.minimize(self._cp.LinearExpr.weighted_sum(self._x, whole))
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
        # Values are read in these two cases only: after any other they are garbage.
        if code not in (cp.OPTIMAL, cp.FEASIBLE):
            return Outcome(None, Status.ERROR, np.inf, f"CP-SAT ended with {solver.status_name(code)}")
        x = np.array([solver.value(variable) for variable in self._x], dtype=np.float64)
        value = float(objective @ x)
        rounding = lost / max(abs(value), float(np.abs(objective).max())) if lost else 0.0
        if code == cp.OPTIMAL and rounding > WORST_ROUNDING:
            return Outcome(
                None,
                Status.ERROR,
                rounding,
                f"CP-SAT needs whole costs: scaled by {self.scale:g} to stay below 2**{BITS}, the optimum may be off "
                f"by {rounding:.1g} of it. Give the variables narrower bounds, or use engine='highs'",
            )
        if code == cp.OPTIMAL:
            return guarded(self.milp, x, Status.OPTIMAL, rounding)
        gap = relative_gap(solver.objective_value, solver.best_objective_bound) + rounding
        return guarded(self.milp, x, Status.TIME_LIMIT, gap, text)


def scaled(objective: Floats, lower: Floats, upper: Floats, bits: int = BITS) -> tuple[list[int], float, float]:
    """Scale costs to whole numbers by a power of two.

    Args:
        objective: ``(n,)`` finite costs.
        lower, upper: ``(n,)`` whole bounds of the variables.
        bits: the scaled objective stays below ``2**bits`` at every point.

    Returns:
        The whole costs, the scale, and a bound on what the rounding can cost (0 where it is exact).
    """
    reach = float((np.abs(objective) * np.maximum(1.0, np.maximum(np.abs(lower), np.abs(upper)))).sum())
    if reach == 0.0:
        return [0] * len(objective), 1.0, 0.0
    # one bit less than the power of two below: rounding may add up to half a unit a term; 1023 is float64's last power
    largest = math.ldexp(1.0, min(bits - 1 - math.frexp(reach)[1], 1023))
    whole, scale = np.round(objective * largest), largest
    lost = float((np.abs(objective * scale - whole) * (upper - lower)).sum()) / scale
    if lost == 0.0:
        # small numbers make CP-SAT faster: take out the common power of two
        common = math.gcd(*[int(value) for value in whole])
        power = common & -common
        whole, scale = whole / power, scale / power
    return [int(value) for value in whole], scale, lost


def build(milp: MILP, *, time_limit: float | None = None, **options: Any) -> CpSatEngine:
    """Build the engine (the entry point of the table of engines)."""
    return CpSatEngine(milp, time_limit=time_limit, **options)
