"""An engine that fails now and then, and keeps an account of it."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from regretless.milp import MILP, Floats
from regretless.solvers import engine as engines
from regretless.solvers import make_engine
from regretless.solvers.engine import EngineEntry, Outcome
from regretless.types import Status

FAULTS = ("raises", "exits", "hangs", "infeasible", "short", "nan", "says infeasible", "says nothing")


class Injector:
    """Builds engines that pass most solves on to HiGHS and spoil the rest.

    Attributes:
        share: of solves that are spoiled.
        hangs: the largest number of solves that hang, because a test waits for each of them.
        done: how often each fault came, and ``"well"`` for the rest.
    """

    def __init__(self, share: float, seed: int = 0, *, hangs: int = 1) -> None:
        self.share, self.chance, self.hangs = share, random.Random(seed), hangs
        self.done: Counter[str] = Counter()

    def build(self, milp: MILP, *, time_limit: float | None = None, **options: Any) -> Faulty:
        """What the table of engines calls."""
        return Faulty(self, milp)

    @property
    def failed(self) -> int:
        """How many solves were spoiled."""
        return sum(count for fault, count in self.done.items() if fault != "well")

    def draw(self) -> str:
        """The fault of the next solve, or ``"well"``."""
        faults = [fault for fault in FAULTS if fault != "hangs" or self.done["hangs"] < self.hangs]
        fault = self.chance.choice(faults) if self.chance.random() < self.share else "well"
        self.done[fault] += 1
        return fault


class Faulty:
    """One engine of the injector."""

    def __init__(self, injector: Injector, milp: MILP) -> None:
        self.injector, self.milp = injector, milp
        self.engine = make_engine("highs", milp)

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Solve, or spoil the solve."""
        fault = self.injector.draw()
        if fault == "raises":
            raise RuntimeError("injected")
        if fault == "exits":
            sys.exit("injected")
        if fault == "hangs":
            time.sleep(3.0)
        answers: dict[str, Outcome] = {
            "infeasible": Outcome(np.ones(self.milp.n), Status.OPTIMAL),
            "short": Outcome(np.zeros(self.milp.n - 1), Status.OPTIMAL),
            "nan": Outcome(np.full(self.milp.n, np.nan), Status.OPTIMAL),
            "says infeasible": Outcome(None, Status.INFEASIBLE, np.inf, "injected"),
            "says nothing": Outcome(None, Status.TIME_LIMIT, np.inf, "injected"),
        }
        return answers[fault] if fault in answers else self.engine.solve(objective)


def install(monkeypatch: pytest.MonkeyPatch, injector: Injector) -> None:
    """Put the injector into the table of engines, as ``faulty``."""
    module = ModuleType("faulty_engine")
    module.build = injector.build  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "faulty_engine", module)
    monkeypatch.setitem(engines.TABLE, "faulty", EngineEntry("faulty_engine", "numpy", "numpy", "MIT"))
    monkeypatch.setattr("regretless.solvers.pool.GRACE", 0.5)
