"""How far a solve by cvxpy is from the optimum: cvxpy calls a solve optimal that ended at the gap of its solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regretless.solvers.engine import finished
from regretless.types import Status

# The value of the solution and the bound on the optimum, of HiGHS, Gurobi and SCIP.
PAIRS = (
    ("objective_function_value", "mip_dual_bound"),
    ("ObjVal", "ObjBound"),
    ("getPrimalbound", "getDualbound"),
)
# With integer variables these end at a gap of 1e-4 by default; engines end at the optimum.
GAPS = {"HIGHS": "mip_rel_gap", "SCIPY": "mip_rel_gap", "GUROBI": "MIPGap"}
# Options of cvxpy that hold the options of the solver; HiGHS also takes them without it.
NESTED = {"HIGHS": "highs_options", "SCIPY": "scipy_options"}


def with_gap_closed(solver: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with which a solver ends at the optimum, unless they hold a gap of their own.

    >>> with_gap_closed("HIGHS", {"time_limit": 1.0}), with_gap_closed("SCIP", {})
    ({'mip_rel_gap': 0.0, 'time_limit': 1.0}, {})
    """
    name, nested = GAPS.get(solver), NESTED.get(solver, "")
    inner = dict(options.get(nested, {}))
    if name is None or name in inner:
        return dict(options)
    return {**options, nested: {name: 0.0} | inner} if solver == "SCIPY" else {name: 0.0, **options}


def integer_gap(stats: Any, *, done: bool) -> tuple[Status, float] | None:
    """Status and gap of a solve with integer variables that has a solution; ``None`` where no bound is known.

    Args:
        stats: ``solver_stats.extra_stats`` of the problem, in which HiGHS, SciPy, SCIP and Gurobi leave a bound.
        done: whether cvxpy calls the solution optimal, which it also does at the gap of the solver.
    """
    if isinstance(stats, dict):
        done = done or stats.get("scip_status") == "gaplimit"  # "optimal_inaccurate" to cvxpy
        if "mip_gap" in stats:  # SciPy does not return the value
            return finished(1.0, 1.0 - float(stats["mip_gap"]), done=done)
        stats = stats.get("model")
    for value, bound in PAIRS:
        if hasattr(stats, value) and hasattr(stats, bound):
            return finished(_number(getattr(stats, value)), _number(getattr(stats, bound)), done=done)
    return None


def _number(value: Any) -> float:
    return float(value() if callable(value) else value)
