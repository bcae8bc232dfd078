"""Ray actors that run jobs, on one machine or many, and how a batch is cut into slices for them."""

from __future__ import annotations

import math
import os
import threading
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any, Generic

from regretless.errors import InputError
from regretless.optional import need_ray
from regretless.solvers import ray_cluster
from regretless.solvers.executors import Job, Result, Unanswered, Work
from regretless.solvers.ray_crew import Crew, Timed, Timing
from regretless.solvers.threads import Threads
from regretless.types import Status

# A call of a Ray actor takes one to two milliseconds. A slice must take longer than that to be worth a call.
SLICE_SECONDS = 0.005
MOST_LOSSES = 2  # of actors, by one job


def stays_local(jobs: int, seconds: float) -> bool:
    """Whether a batch is too short to be sent away: its jobs make less than two slices.

    >>> stays_local(32, 0.00005), stays_local(32, 0.01)
    (True, False)
    """
    return jobs * seconds < 2 * SLICE_SECONDS


def slice_size(waiting: int, workers: int, seconds: float) -> int:
    """Number of jobs in the next slice: a share of what waits, so that slices become smaller towards the end.

    Large slices at the start cost few calls. Small ones at the end keep all workers busy although jobs take different
    times (guided self-scheduling, Polychronopoulos and Kuck 1987).

    Args:
        waiting: jobs that are not sent yet.
        workers: workers that take slices.
        seconds: mean time of a job; 0 where it is not known.

    >>> slice_size(32, 2, 0.01), slice_size(3, 2, 0.01), slice_size(32, 2, 0.001), slice_size(3, 2, 0.001)
    (8, 1, 8, 3)
    """
    if 0 < waiting * seconds <= SLICE_SECONDS:
        return waiting
    least = math.ceil(SLICE_SECONDS / seconds) if seconds > 0 else 1
    return min(waiting, max(least, math.ceil(waiting / (2 * workers))))


class RayActors(Generic[Job, Result]):
    """Run jobs in Ray actors, which keep the work and what it has built.

    The work travels once. A batch is cut into slices (``solvers.slices``); one that is shorter than a few milliseconds
    runs in threads of this process. An actor that is lost is replaced, and the jobs of its slice run again, each in a
    slice of its own. A job whose actor is lost a second time has no result; the others are not affected.

    A job that exceeds its limit is given up on, and its actor is replaced.

    Args:
        work: runs one job; it is pickled by Ray, which also takes lambdas and functions of a notebook.
        workers: actors, each with one CPU of the cluster.
        limit: seconds for one job, or ``None``.
        address: of the cluster; see ``ray_cluster.connect``.

    Raises:
        InputError: the work cannot be pickled.
    """

    def __init__(self, work: Work[Job, Result], *, workers: int, limit: float | None, address: str = "") -> None:
        self._work, self._limit = self.check(work), limit
        self._workers, self._address = workers, address
        here = min(workers, os.cpu_count() or 1)
        self._threads: Threads[Job, Timed] = Threads(Timing(work), workers=here, limit=limit)
        self._seconds = 0.0  # of one job, by the last batches; 0 before the first
        self._crashing = False
        self._crew: Crew | None = None
        self._lock = threading.Lock()

    @staticmethod
    def check(work: Work[Any, Any]) -> bytes:
        """Pickle the work as Ray does, or raise an ``InputError``."""
        ray = need_ray()
        try:
            return bytes(ray.cloudpickle.dumps(work))
        except Exception as error:  # pickle raises whatever the object's own methods raise
            said = f"{type(error).__name__}: {error}"
            raise InputError(f"executor='ray' needs a solver that can be pickled ({said})") from error

    def map(self, jobs: Sequence[Job]) -> list[Result | Unanswered]:
        """Return one result per job, in order; see ``Executor``.

        Raises:
            SolveError: no actor can be started.
        """
        answers: Sequence[Timed | Unanswered]
        # What a solver does to its process is found out in an actor: the first batch never runs here.
        if self._seconds and not self._crashing and stays_local(len(jobs), self._seconds):
            answers = self._threads.map(jobs)
        else:
            with self._lock:
                answers = self._spread(jobs)
        timed = [answer for answer in answers if isinstance(answer, Timed)]
        if timed:
            mean = sum(answer.seconds for answer in timed) / len(timed)
            self._seconds = (self._seconds + mean) / 2 if self._seconds else max(mean, 1e-9)
        return [answer.result if isinstance(answer, Timed) else answer for answer in answers]

    def _spread(self, jobs: Sequence[Job]) -> list[Timed | Unanswered]:
        """Let actors take slices until every job has an answer."""
        if self._crew is None or self._crew.lost_connection():
            ray = ray_cluster.connect(self._address, cpus=self._workers)
            self._crew = Crew(ray, self._work, self._limit, self._workers)
        crew = self._crew
        waiting, alone = deque(range(len(jobs))), deque[int]()
        losses: Counter[int] = Counter()
        answers: dict[int, Timed | Unanswered] = {}
        batch = object()  # answers to a batch that was interrupted come later and are dropped
        while len(answers) < len(jobs):
            while crew.idle and (alone or waiting):
                size = 1 if alone else slice_size(len(waiting), self._workers, self._seconds)
                taken = [(alone or waiting).popleft() for _ in range(size)]
                crew.send([jobs[k] for k in taken], (batch, taken))
            for token, found in crew.collect():
                whose, taken = token
                if whose is not batch:
                    continue
                if isinstance(found, BaseException):
                    raise found
                if found is not None:
                    answers.update(zip(taken, found, strict=True))
                    continue
                losses.update(taken)
                for k in taken:
                    if losses[k] < MOST_LOSSES:
                        alone.append(k)
                    else:
                        said = f"its Ray actor was lost {MOST_LOSSES} times while it was solved"
                        answers[k] = Unanswered(Status.ERROR, said)
                        self._crashing = True  # from now on nothing runs in this process
        return [answers[k] for k in range(len(jobs))]
