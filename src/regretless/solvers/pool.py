"""A batched exact oracle out of any engine: a thread pool with one solver per thread, results in order."""

from __future__ import annotations

import math
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError, RegretlessError
from regretless.family import Family, member
from regretless.milp import MILP, Floats
from regretless.solvers.deadline import Watched
from regretless.solvers.engine import Engine, Outcome, guarded, make_engine, names
from regretless.types import Solved, Status

# Family member, objective, and a decision to start from.
Job = tuple[int, Floats, Floats | None]
MODELS_PER_THREAD = 64
GRACE = 1.0
# Objectives whose largest coefficient lies outside of this are scaled by a power of two.
SMALL, LARGE = 1e-2, 1e6


class EnginePool:
    """Solve batches with an engine, one solver object per thread and model.

    Engines release the interpreter lock while they solve, so threads serve as well as processes and share all memory.
    An exception in one instance becomes that instance's status; the rest of the batch is not touched. What no instance
    can be solved with (an engine that is not installed, an option that it does not know) is raised.

    Engines keep their time limit themselves. One that does not, because it hangs, is given up on after twice the limit
    and a second: its instance ends with ``TIME_LIMIT`` and no solution, its thread is left behind (a thread cannot be
    killed), and another takes over. Without a time limit nobody waits less than for ever, and nothing is watched.

    Args:
        model: a MILP or a family of them.
        engine: name in the table of engines.
        workers: threads; 1 solves in the calling thread.
        time_limit: seconds for one solve.
        options: settings handed to the engine.
    """

    def __init__(
        self,
        model: MILP | Family,
        *,
        engine: str = "highs",
        workers: int = 1,
        time_limit: float | None = None,
        **options: Any,
    ) -> None:
        if workers < 1:
            raise InputError(f"workers must be at least 1, got {workers}")
        if engine not in names():
            raise InputError(f"engine must be one of {', '.join(names())}, got {engine!r}")
        if time_limit is not None and not time_limit > 0:
            raise InputError(f"time_limit must be positive seconds or None, got {time_limit}")
        self.model, self.engine, self.workers = model, engine, workers
        self.time_limit, self.options = time_limit, options
        self._local = threading.local()
        self._executor: ThreadPoolExecutor | None = None
        self._watched: Watched[Job, Outcome] | None = None
        self._process = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_local": None, "_executor": None, "_watched": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._local, self._process = threading.local(), os.getpid()

    def solve(
        self,
        costs: Tensor,
        instance: Tensor | None = None,
        *,
        decision: bool = False,
        starts: Sequence[Floats | None] | None = None,
    ) -> Solved:
        """Solve ``(batch, width)`` costs, from feasible decisions where there are some; see ``types.Backend``."""
        rows = costs.detach().cpu().to(torch.float64).numpy()
        milps = [member(self.model, i) for i in _ids(rows, instance)]
        return _gather(
            milps, list(self.outcomes(rows, instance, starts)), member(self.model, 0), costs.device, decision
        )

    def outcomes(
        self, costs: Floats, instance: Tensor | None, starts: Sequence[Floats | None] | None = None
    ) -> Iterator[Outcome]:
        """Yield one outcome an instance, in order."""
        begin = [None] * len(costs) if starts is None else starts
        ids = _ids(costs, instance)
        jobs = [(i, member(self.model, i).objective(costs[k : k + 1])[0], begin[k]) for k, i in enumerate(ids)]
        yield from self._map(jobs)

    def _map(self, jobs: list[Job]) -> Iterable[Outcome]:
        if self._process != os.getpid():  # threads do not survive a fork
            self._process, self._executor, self._watched = os.getpid(), None, None
        if self.time_limit is not None:
            if self._watched is None:
                self._watched = Watched(self.workers, 2 * self.time_limit + GRACE)
            return self._watched.map(self._solve_one, jobs, self._late)
        if self.workers == 1 or len(jobs) == 1:
            return map(self._solve_one, jobs)
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.workers, thread_name_prefix="regretless")
        return self._executor.map(self._solve_one, jobs)

    def _late(self, job: Job) -> Outcome:
        said = f"the engine did not keep its time limit of {self.time_limit:g} s and was given up on"
        return Outcome(None, Status.TIME_LIMIT, np.inf, said)

    def _solve_one(self, job: Job, clock: Callable[[], None] | None = None) -> Outcome:
        index, objective, start = job
        if not np.isfinite(objective).all():
            return _failed("the objective is not finite: the costs are not, or overflow in the cost map")
        try:
            engine = self._engine(index)
        except RegretlessError:
            raise
        except Exception as error:
            return _failed(f"{type(error).__name__}: {error}")
        try:
            if clock is not None:
                clock()
            scaled = _sensible(objective)
            outcome = engine.solve(scaled) if start is None else engine.solve(scaled, start)
            if outcome.x is None or outcome.checked:
                return outcome
            x = np.asarray(outcome.x, dtype=np.float64)
            return guarded(member(self.model, index), x, outcome.status, outcome.gap, outcome.message)
        except (Exception, SystemExit) as error:  # a solver may not end the process, or its thread, on its own
            # A solver may be left in any state by an exception: the next solve gets a new one.
            self._engines().pop(index, None)
            return _failed(f"{type(error).__name__}: {error}")

    def _engines(self) -> OrderedDict[int, Engine]:
        if not hasattr(self._local, "engines"):
            self._local.engines = OrderedDict()
        engines: OrderedDict[int, Engine] = self._local.engines
        return engines

    def _engine(self, index: int) -> Engine:
        engines = self._engines()
        if index not in engines:
            engines[index] = make_engine(
                self.engine, member(self.model, index), time_limit=self.time_limit, **self.options
            )
            if len(engines) > MODELS_PER_THREAD:
                engines.popitem(last=False)
        engines.move_to_end(index)
        return engines[index]


def _sensible(objective: Floats) -> Floats:
    """Bring an objective of extreme size to one that engines can work with; no digit of it and no optimum changes.

    Engines have absolute tolerances: to HiGHS costs of 1e-12 are all zero, and any solution is an optimum.
    """
    largest = float(np.abs(objective).max(initial=0.0))
    if largest == 0.0 or SMALL <= largest <= LARGE:
        return objective
    return np.ldexp(objective, 10 - math.frexp(largest)[1])


def _ids(costs: Floats, instance: Tensor | None) -> list[int]:
    return [0] * len(costs) if instance is None else [int(i) for i in instance]


def _failed(message: str) -> Outcome:
    return Outcome(None, Status.ERROR, np.inf, message)


def _gather(milps: list[MILP], outcomes: list[Outcome], first: MILP, device: torch.device, decision: bool) -> Solved:
    """Outcomes of engines (decisions) to a batch in cost space, each by its own programme's map."""
    x = np.full((len(outcomes), first.n), np.nan)
    solution = np.full((len(outcomes), first.width), np.nan)
    for row, (milp, outcome) in enumerate(zip(milps, outcomes, strict=True)):
        if outcome.x is not None:
            x[row], solution[row] = outcome.x, milp.solution(outcome.x)[0]
    plain = all(outcome.status is Status.OPTIMAL for outcome in outcomes)
    gaps = [outcome.gap for outcome in outcomes]  # CP-SAT's optimum may carry what rounding the costs can have cost
    return Solved(
        solution=torch.as_tensor(solution, device=device),
        status=None if plain else [outcome.status for outcome in outcomes],
        gap=torch.tensor(gaps, dtype=torch.float64, device=device) if any(gaps) else None,
        decision=torch.as_tensor(x, device=device) if decision else None,
        message={row: outcome.message for row, outcome in enumerate(outcomes) if outcome.message},
    )
