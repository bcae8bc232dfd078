"""An engine that counts its solves, to compare the ledger with."""

from __future__ import annotations

import sys
from collections import Counter
from types import ModuleType
from typing import Any

import pytest

from regretless.milp import MILP, Floats
from regretless.solvers import engine as engines
from regretless.solvers.engine import EngineEntry, Outcome
from regretless.solvers.highs import HighsEngine


class Counting:
    """HiGHS, with a count of its solves by the number of variables: settings are checked on a model of two."""

    def __init__(self, solves: Counter[int], milp: MILP, time_limit: float | None, **options: Any) -> None:
        self.solves, self.n = solves, milp.n
        self.engine = HighsEngine(milp, time_limit=time_limit, **options)

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Count and solve."""
        self.solves[self.n] += 1
        return self.engine.solve(objective)


def install(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """Put the engine into the table, as ``counting``; returns its counts."""
    solves: Counter[int] = Counter()

    def build(milp: MILP, *, time_limit: float | None = None, **options: Any) -> Counting:
        return Counting(solves, milp, time_limit, **options)

    module = ModuleType("counting_engine")
    module.build = build  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "counting_engine", module)
    monkeypatch.setattr("regretless.solvers.highs.build", build)  # linear relaxations use HiGHS
    monkeypatch.setitem(engines.TABLE, "counting", EngineEntry("counting_engine", "numpy", "numpy", "MIT"))
    return solves
