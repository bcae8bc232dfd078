"""Which engines are installed: versions, licenses, limits, and whether each one solves a small model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regretless.milp import MILP
from regretless.optional import version_of
from regretless.solvers.checked_engine import make_engine
from regretless.solvers.engine import TABLE, available
from regretless.types import Status


@dataclass(frozen=True)
class EngineReport:
    """One engine, as ``regretless doctor`` shows it.

    Attributes:
        name: as in the table of engines.
        installed: whether its package is found.
        version: of the package; empty where it is not installed.
        license: the engine's license.
        limits: what the engine or its free license cannot do; empty where there are none.
        works: whether it solved a small model just now; ``None`` where that was not tried.
        problem: why it did not work, or how to install it; empty where it works.
    """

    name: str
    installed: bool
    version: str
    license: str
    limits: str
    works: bool | None
    problem: str


def inventory(*, probe: bool = True) -> list[EngineReport]:
    """Describe all engines of the table.

    Args:
        probe: also solve a small model with each, which finds a missing license or a broken installation.
    """
    here = available()
    reports = []
    for name, entry in TABLE.items():
        works, problem = None, ""
        if not here[name]:
            problem = f"not installed; get it with: pip install '{entry.pip}'"
        elif probe:
            problem = _trial(name)
            works = not problem
        version = (version_of(entry.package) or "unknown") if here[name] else ""
        reports.append(EngineReport(name, here[name], version, entry.license, entry.limits, works, problem))
    return reports


def _trial(name: str) -> str:
    """Solve a knapsack of two items; return what went wrong."""
    try:
        model = MILP([[1.0, 1.0]], row_upper=1.0, integer=not TABLE[name].batched)
        outcome = make_engine(name, model).solve(np.array([-1.0, -2.0]))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if outcome.status is not Status.OPTIMAL or outcome.x is None:
        return outcome.message or str(outcome.status)
    return (
        "" if outcome.x.tolist() == [0.0, 1.0] else f"it solved a knapsack of two items wrongly: {outcome.x.tolist()}"
    )
