"""What an engine is, and the table of engines."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from regretless.milp import Floats
from regretless.types import Status

NO_BOUND = 1e20
CLOSED = 1e-6  # a gap that the tolerances of an engine explain


@dataclass(frozen=True)
class Outcome:
    """One solve: a decision ``(n,)`` (``None`` where there is none), how it ended, and the relative gap left."""

    x: Floats | None
    status: Status
    gap: float = 0.0
    message: str = ""


class Engine(Protocol):
    """One model, held by one thread, solved for one objective after another, minimizing.

    An answer depends on the objective alone, not on earlier solves. An option that the solver does not know is an
    ``InputError`` when the engine is built. ``make_engine`` rounds and checks the answers; an engine that computes in
    integers, so that its optima need no proof, has ``exact = True``. ``finished`` and ``told_apart`` below give the
    statuses that solvers leave open. ``tests/solvers/test_grid.py`` holds every row of the table to this.
    """

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Minimize ``objective . x``; ``start`` is a feasible decision to begin with, where that helps."""


@dataclass(frozen=True)
class EngineEntry:
    """A row of the table.

    Attributes:
        module: with ``build(milp, time_limit=, **options)``.
        package: what it needs.
        pip: name of that package for pip.
        license: of the engine.
        gap: its own name for the relative gap at which a solve may end; empty where it has none.
        limits: what it cannot do.
        batched: whether it solves batches of linear programs at once, and no integers.
    """

    module: str
    package: str
    pip: str
    license: str
    gap: str = ""
    limits: str = ""
    batched: bool = False


TABLE: dict[str, EngineEntry] = {
    "highs": EngineEntry("regretless.solvers.highs", "highspy", "highspy<1.15", "MIT", "mip_rel_gap"),
    "scip": EngineEntry("regretless.solvers.scip", "pyscipopt", "pyscipopt", "Apache 2.0", "limits/gap"),
    "cpsat": EngineEntry(
        "regretless.solvers.cpsat",
        "ortools",
        "ortools",
        "Apache 2.0",
        "relative_gap_limit",
        "bounded integer variables and rows of integers only; costs are scaled to integers",
    ),
    "gurobi": EngineEntry(
        "regretless.solvers.gurobi",
        "gurobipy",
        "gurobipy",
        "commercial",
        "MIPGap",
        "the free license of the pip package: up to 2,000 variables and 2,000 rows",
    ),
    "batched-lp": EngineEntry(
        "regretless.solvers.batched_lp",
        "torch",
        "torch",
        "MIT",
        limits="linear programs only; whole batches on the device of the costs",
        batched=True,
    ),
}


def names(*, integers: bool = False) -> list[str]:
    """Names of all engines, or of those that take integer variables."""
    return [name for name, entry in TABLE.items() if not (integers and entry.batched)]


def available() -> dict[str, bool]:
    """Say which engines are installed."""
    return {name: importlib.util.find_spec(entry.package) is not None for name, entry in TABLE.items()}


def relative_gap(value: float, bound: float) -> float:
    """``|value - bound| / |value|`` of an incumbent and a bound on the optimum; infinite where there is no bound."""
    difference = abs(value - bound)
    if difference == 0.0:
        return 0.0
    return difference / abs(value) if value != 0.0 and difference < NO_BOUND else np.inf


def finished(value: float, bound: float, *, done: bool = True) -> tuple[Status, float]:
    """Status and gap of a solve with a solution; where an engine calls it ``done``, its options may allow a gap."""
    gap = relative_gap(value, bound)
    if not done:
        return Status.TIME_LIMIT, gap
    closed = abs(value - bound) <= CLOSED * max(1.0, abs(value))
    return (Status.OPTIMAL, 0.0) if closed else (Status.FEASIBLE, gap)


def told_apart(status: Status) -> Status:
    """Tell unbounded from infeasible by how a solve with an objective of zeros ended."""
    return Status.UNBOUNDED if status is Status.OPTIMAL else status
