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


@dataclass(frozen=True)
class Outcome:
    """One solve: a decision ``(n,)`` (``None`` where there is none), how it ended, and the relative gap left."""

    x: Floats | None
    status: Status
    gap: float = 0.0
    message: str = ""


class Engine(Protocol):
    """One model, held by one thread, solved for one objective after another, minimising."""

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Minimise ``objective . x``; ``start`` is a feasible decision to begin with, where that helps."""
        ...


@dataclass(frozen=True)
class EngineEntry:
    """A row of the table: where the engine lives, the package it needs, and its pip name."""

    module: str
    package: str
    pip: str


TABLE: dict[str, EngineEntry] = {
    "highs": EngineEntry("regretless.solvers.highs", "highspy", "highspy<1.15"),
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
