"""Threads that are given up on when they work too long, so that a solver that hangs costs one instance and no more."""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from regretless.errors import SolveError

Job = TypeVar("Job")
Result = TypeVar("Result")
# Every one of these still burns a core or holds memory: a solver that hangs so often is broken.
MOST_HANGING = 32


class Batch(Generic[Job, Result]):
    """Jobs that came together, and where their answers go."""

    def __init__(self, work: Callable[[Job, Callable[[], None]], Result], jobs: Sequence[Job]) -> None:
        self.work, self.jobs = work, jobs
        self.answers: queue.SimpleQueue[tuple[int, Result | BaseException]] = queue.SimpleQueue()
        self.dropped = False


class Watched(Generic[Job, Result]):
    """Do jobs in threads, in order, and give up on a thread that works on one for longer than ``limit`` seconds.

    A thread cannot be killed: one that is given up on is left behind (it ends with the process at the latest), what it
    returns in the end is thrown away, and a new one takes its place. The clock of a job starts when the job says so:
    loading a solver is not solving.

    Args:
        workers: threads.
        limit: seconds for one job.
    """

    def __init__(self, workers: int, limit: float) -> None:
        self.limit = limit
        self._jobs: queue.SimpleQueue[tuple[Batch[Any, Any], int] | None] = queue.SimpleQueue()
        self._threads = [_Thread(self._jobs) for _ in range(workers)]
        self._left: list[_Thread] = []
        # Threads hold the queue and not this object, so that they end when it is no longer needed.
        weakref.finalize(self, _dismiss, self._jobs, workers)

    def map(
        self, work: Callable[[Job, Callable[[], None]], Result], jobs: Sequence[Job], late: Callable[[Job], Result]
    ) -> list[Result]:
        """Return ``work(job, clock)`` of every job, in order, and ``late(job)`` where a thread was given up on.

        Raises:
            SolveError: too many threads hang at once.
            BaseException: what ``work`` raised.
        """
        batch: Batch[Job, Result] = Batch(work, jobs)
        results: dict[int, Result] = {}
        for k in range(len(jobs)):
            self._jobs.put((batch, k))
        try:
            while len(results) < len(jobs):
                try:
                    k, answer = batch.answers.get(timeout=self._patience())
                except queue.Empty:
                    results |= {k: late(jobs[k]) for k in self._give_up()}
                    continue
                if isinstance(answer, BaseException):
                    raise answer
                results[k] = answer
        finally:
            batch.dropped = True
        return [results[k] for k in range(len(jobs))]

    def _patience(self) -> float:
        """Seconds until the first thread is late; the limit where none has begun."""
        began = [since for thread in self._threads if (since := thread.since) is not None]
        return max(min(began) + self.limit - time.monotonic(), 0.001) if began else self.limit

    def _give_up(self) -> list[int]:
        """Replace threads that are late and return the positions of their jobs."""
        given_up = []
        for place, thread in enumerate(self._threads):
            with thread.lock:
                if thread.since is None or time.monotonic() - thread.since < self.limit:
                    continue
                thread.abandoned = True
            given_up.append(thread.position)
            self._left = [*(old for old in self._left if old.is_alive()), thread]
            if len(self._left) > MOST_HANGING:
                raise SolveError(
                    f"{len(self._left)} solves hang past their time limit, more than {MOST_HANGING}: the solver is "
                    "broken, or the time limit far too short"
                )
            self._threads[place] = _Thread(self._jobs)
        return given_up


class _Thread(threading.Thread):
    """Takes jobs until it is sent home or given up on."""

    def __init__(self, jobs: queue.SimpleQueue[tuple[Batch[Any, Any], int] | None]) -> None:
        super().__init__(name="regretless-watched", daemon=True)  # one that hangs must not keep the process alive
        self.jobs, self.lock = jobs, threading.Lock()
        self.position, self.abandoned = -1, False
        self.since: float | None = None  # when the job at hand began to be timed
        self.start()

    def run(self) -> None:
        while not self.abandoned and (item := self.jobs.get()) is not None:
            batch, self.position = item
            if batch.dropped:
                continue
            try:
                answer = batch.work(batch.jobs[self.position], self._clock)
            except BaseException as error:  # the thread must live on: whoever waits for the answer raises it
                answer = error
            with self.lock:
                self.since = None
                if not self.abandoned:
                    batch.answers.put((self.position, answer))
            del batch, item, answer  # or the last batch stays in memory until the next one comes

    def _clock(self) -> None:
        self.since = time.monotonic()


def _dismiss(jobs: queue.SimpleQueue[Any], workers: int) -> None:
    for _ in range(workers):
        jobs.put(None)
