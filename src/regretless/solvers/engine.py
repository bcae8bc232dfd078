"""What an engine is, and the table of engines."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.types import Status

GARBAGE = 1e-4
NO_BOUND = 1e20


@dataclass(frozen=True)
class Outcome:
    """One solve: a decision ``(n,)`` (``None`` where there is none), how it ended, and the relative gap left.

    ``checked`` says that ``guarded`` has looked at the decision; the pool looks at all others itself.
    """

    x: Floats | None
    status: Status
    gap: float = 0.0
    message: str = ""
    checked: bool = False


class Engine(Protocol):
    """One model, held by one thread, solved for one objective after another, minimising."""

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Minimise ``objective . x``; ``start`` is a feasible decision to begin with, where that helps."""
        ...


@dataclass(frozen=True)
class EngineEntry:
    """A row of the table: where the engine lives, the package it needs, its pip name, its licence and its limits."""

    module: str
    package: str
    pip: str
    licence: str
    limits: str = ""


TABLE: dict[str, EngineEntry] = {
    "highs": EngineEntry("regretless.solvers.highs", "highspy", "highspy<1.15", "MIT"),
    "scip": EngineEntry("regretless.solvers.scip", "pyscipopt", "pyscipopt", "Apache 2.0"),
    "cpsat": EngineEntry(
        "regretless.solvers.cpsat",
        "ortools",
        "ortools",
        "Apache 2.0",
        "whole, bounded variables and whole rows only; costs are scaled to whole numbers",
    ),
    "gurobi": EngineEntry(
        "regretless.solvers.gurobi",
        "gurobipy",
        "gurobipy",
        "commercial",
        "the free licence of the pip package: up to 2,000 variables and 2,000 rows",
    ),
}


def names() -> list[str]:
    """Names of all engines."""
    return list(TABLE)


def available() -> dict[str, bool]:
    """Say which engines are installed."""
    return {name: importlib.util.find_spec(entry.package) is not None for name, entry in TABLE.items()}


def make_engine(name: str, milp: MILP, *, time_limit: float | None = None, **options: Any) -> Engine:
    """Build engine ``name`` for ``milp``.

    Args:
        name: a key of the table of engines.
        milp: the model, kept by the engine.
        time_limit: seconds for one solve; ``None`` for none.
        options: settings of the engine itself.
    """
    if name not in TABLE:
        raise InputError(f"engine must be one of {', '.join(TABLE)}, got {name!r}")
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"time_limit must be positive seconds or None, got {time_limit}")
    engine: Engine = importlib.import_module(TABLE[name].module).build(milp, time_limit=time_limit, **options)
    return engine


def snapped(milp: MILP, x: Floats) -> Floats:
    """Round integer variables of an engine's answer, so that equal decisions are equal arrays."""
    x = np.where(milp.integer, np.round(x), x)
    return np.clip(x, milp.lower, milp.upper) + 0.0


def guarded(milp: MILP, x: Floats, status: Status, gap: float = 0.0, message: str = "") -> Outcome:
    """Snap an engine's answer and hand it on, unless it is garbage: not finite, or grossly infeasible.

    The tolerance is looser than the engines' own, so that only an answer that no tolerance explains is refused.
    """
    if x.shape != (milp.n,):
        return Outcome(None, Status.ERROR, np.inf, f"the engine's answer must have shape ({milp.n},), got {x.shape}")
    x = snapped(milp, x) if np.isfinite(x).all() else x
    if not milp.check(x, GARBAGE)[0]:
        return Outcome(
            None, Status.ERROR, np.inf, f"the engine's answer is infeasible for the model ({status}) {message}"
        )
    return Outcome(x, status, gap, message, checked=True)


def relative_gap(value: float, bound: float) -> float:
    """``|value - bound| / |value|`` of an incumbent and a bound on the optimum; infinite where there is no bound."""
    difference = abs(value - bound)
    if difference == 0.0:
        return 0.0
    return difference / abs(value) if value != 0.0 and difference < NO_BOUND else np.inf


def told_apart(status: Status) -> Status:
    """Tell unbounded from infeasible by how a solve with an objective of zeros ended."""
    return Status.UNBOUNDED if status is Status.OPTIMAL else status
