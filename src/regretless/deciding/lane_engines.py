"""Engines that stay with the thread that built them: an engine belongs to one thread at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from regretless.cache.bounds.multipliers import RelaxationMultipliers
from regretless.errors import InputError, MissingDependencyError
from regretless.milp import MILP, Floats
from regretless.most_recent import MostRecentOfThread
from regretless.solvers import Outcome, make_engine
from regretless.solvers.ledger import PurposeCount
from regretless.solvers.objective_scale import solve_scaled
from regretless.types import Status

MODELS_PER_LANE = 8


class LaneEngines:
    """Solves models in the calling thread and keeps the latest engines of every thread.

    Attributes:
        count: solves and seconds of all threads.
    """

    def __init__(self, engine: str, options: Mapping[str, Any] | None = None) -> None:
        self.engine, self.options = engine, dict(options or {})
        self.count = PurposeCount()
        self._built, self._lock = MostRecentOfThread(MODELS_PER_LANE), threading.Lock()

    def refuse_wrong_settings(self, milp: MILP) -> None:
        """Build an engine once. Otherwise a wrong name or setting would make every request fall back, without an error.

        Raises:
            InputError: the engine is unknown, or does not have the settings or take the model.
            MissingDependencyError: its package is not installed.
        """
        try:
            make_engine(self.engine, milp, **self.options)
        except (InputError, MissingDependencyError):
            raise
        except Exception:  # such as a license server that is down: it may answer later
            pass

    def solve(self, milp: MILP, objective: Floats, limit: float | None) -> Outcome:
        """Minimize ``objective . x`` within ``limit`` seconds; an exception becomes a status."""
        key, start = (id(milp), limit), time.perf_counter()
        try:
            engine = self._kept(key, milp, lambda: make_engine(self.engine, milp, time_limit=limit, **self.options))
            return solve_scaled(engine, objective)
        except (Exception, SystemExit) as error:  # a solver must not end its thread
            # An exception may leave a solver in any state: the next solve gets a new one.
            self._built.entries.pop(key, None)
            return Outcome(None, Status.ERROR, np.inf, f"{type(error).__name__}: {error}")
        finally:
            with self._lock:
                self.count.solves += 1
                self.count.seconds += time.perf_counter() - start

    def multipliers(self, milp: MILP, objective: Floats) -> Floats | None:
        """Row multipliers of the linear relaxation; ``None`` where it has no optimum."""
        key = (id(milp), -1.0)
        relaxation: RelaxationMultipliers = self._kept(key, milp, lambda: RelaxationMultipliers(milp, objective))
        return relaxation(objective)

    def _kept(self, key: tuple[int, float | None], milp: MILP, build: Callable[[], Any]) -> Any:
        # the model too: an id belongs to it only while it exists
        return self._built.entries.find(key, lambda: (milp, build()))[1]
