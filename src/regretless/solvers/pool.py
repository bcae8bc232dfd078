"""A batched exact oracle out of any engine: several instances are solved at the same time, results are in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError, RegretlessError
from regretless.family import Family, member
from regretless.milp import MILP, Floats
from regretless.most_recent import MostRecentOfThread
from regretless.solvers.checked_engine import check_options, make_engine
from regretless.solvers.engine import Engine, Outcome, names
from regretless.solvers.executors import Clock, Execution, Unanswered, checked_workers
from regretless.solvers.time_limit import limit_or_none
from regretless.types import Solved, Status

# Family member, objective, and a decision to start from.
Job = tuple[int, Floats, Floats | None]
MODELS = 64  # that all workers hold ready together
GRACE = 1.0
SHORT = 0.05  # seconds for which Ctrl-C may wait; a thread per batch costs a thousandth of that


class EnginePool:
    """Solve batches with an engine, one engine object per worker and model.

    An exception in one instance becomes that instance's status; the rest of the batch is not affected. What makes every
    solve impossible (an engine that is not installed, an option that it does not know) is raised.

    Engines keep their time limit themselves. One that hangs is given up on after twice the limit and a second: its
    instance ends with ``TIME_LIMIT`` and no solution, and another worker takes over. Without a time limit nothing is
    timed.

    Args:
        model: a MILP or a family of them.
        engine: name in the table of engines.
        workers: instances that are solved at the same time; ``None`` uses all cores.
        time_limit: seconds for one solve.
        executor: ``"threads"``, ``"processes"`` for an engine that crashes or does not release the interpreter lock,
            or ``"ray[:ADDRESS]"``.
        options: settings of the engine, and ``gap`` and ``proof_nodes`` of ``make_engine``.
    """

    one_by_one = True  # how instances are grouped to batches changes no number

    def __init__(
        self,
        model: MILP | Family,
        *,
        engine: str = "highs",
        workers: int | None = 1,
        time_limit: float | None = None,
        executor: str = "threads",
        **options: Any,
    ) -> None:
        if engine not in names():
            raise InputError(f"engine must be one of {', '.join(names())}, got {engine!r}")
        check_options(engine, options)
        time_limit = limit_or_none(time_limit)
        self.model, self.engine, self.time_limit = model, engine, time_limit
        self.workers = checked_workers(workers, executor)
        work = _Engines(model, engine, time_limit, options, models=max(1, MODELS // self.workers))
        limit = None if time_limit is None else 2 * time_limit + GRACE
        settings = {"inline": SHORT} if executor == "threads" else {}
        self._solves: Execution[Job, Outcome] = Execution(executor, work, workers=self.workers, limit=limit, **settings)

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
        ids = [0] * len(rows) if instance is None else [int(i) for i in instance]
        begin = [None] * len(rows) if starts is None else starts
        milps = [member(self.model, i) for i in ids]
        if isinstance(self.model, Family):
            objectives = [milp.objective(rows[k : k + 1])[0] for k, milp in enumerate(milps)]
        else:
            objectives = list(self.model.objective(rows))
        jobs = list(zip(ids, objectives, begin, strict=True))
        # processes hold a copy of the family: one that has grown needs new ones
        size = len(self.model) if isinstance(self.model, Family) and self._solves.name != "threads" else 0
        outcomes = [self._outcome(answer) for answer in self._solves.map(jobs, version=size)]
        return _gather(milps, outcomes, member(self.model, 0), costs.device, decision)

    def _outcome(self, answer: Outcome | Unanswered) -> Outcome:
        if isinstance(answer, Outcome):
            return answer
        late = f"the engine did not keep its time limit of {self.time_limit or 0:g} s and was given up on"
        return Outcome(None, answer.status, np.inf, late if answer.status is Status.TIME_LIMIT else answer.message)


class _Engines:
    """Solves one instance after another, in whatever thread or process, with engines that are kept per thread."""

    def __init__(
        self, model: MILP | Family, engine: str, time_limit: float | None, options: Mapping[str, Any], *, models: int
    ) -> None:
        self.model, self.engine, self.time_limit, self.options = model, engine, time_limit, options
        self._built = MostRecentOfThread(models)

    def __call__(self, job: Job, clock: Clock) -> Outcome:
        index, objective, start = job
        if not np.isfinite(objective).all():
            return _failed("the objective is not finite: the costs are not, or they overflow in the cost map")
        try:
            engine: Engine = self._built.entries.find(index, lambda: self._build(index))
        except RegretlessError:
            raise
        except Exception as error:
            return _failed(f"{type(error).__name__}: {error}")
        try:
            clock()
            return engine.solve(objective, start)
        except (Exception, SystemExit) as error:  # a solver must not end the process or its thread
            # An exception may leave a solver in any state: the next solve gets a new one.
            self._built.entries.pop(index, None)
            return _failed(f"{type(error).__name__}: {error}")

    def _build(self, index: int) -> Engine:
        return make_engine(self.engine, member(self.model, index), time_limit=self.time_limit, **self.options)


def _failed(message: str) -> Outcome:
    return Outcome(None, Status.ERROR, np.inf, message)


def _gather(milps: list[MILP], outcomes: list[Outcome], first: MILP, device: torch.device, decision: bool) -> Solved:
    """Map decisions of engines to a batch in cost space, each by its own model's map."""
    x = np.full((len(outcomes), first.n), np.nan)
    solution = np.full((len(outcomes), first.width), np.nan)
    for row, (milp, outcome) in enumerate(zip(milps, outcomes, strict=True)):
        if outcome.x is not None:
            x[row], solution[row] = outcome.x, milp.solution(outcome.x)[0]
    status, gaps = [one.status for one in outcomes], [one.gap for one in outcomes]
    # Some engines have nothing to say but the status.
    said = {row: one.message for row, one in enumerate(outcomes) if one.message.lower() not in ("", one.status)}
    return Solved.of_arrays(device, solution, status, gaps, said, x if decision else None)
