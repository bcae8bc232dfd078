"""Threads that run jobs, and that are given up on where a job takes longer than its limit."""

from __future__ import annotations

import atexit
import math
import queue
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Generic

from regretless.errors import SolveError
from regretless.solvers.executors import Job, Result, Unanswered, Work
from regretless.types import Status

# Each of these still uses a core or memory: a solver that hangs this often is broken.
MOST_HANGING = 32
EXIT_SECONDS = 2.0  # that the end of the process waits for jobs that were left behind
# Whether other threads that call engines, such as those of deciders, are at work.
OTHERS_AT_WORK: list[Callable[[], bool]] = []


class Threads(Generic[Job, Result]):
    """Run jobs in threads, and give up on a thread that works on one for longer than ``limit`` seconds.

    Engines release the interpreter lock while they solve, so threads are as fast as processes and share all memory.
    Python functions hold it: for them, threads help only where they wait or call compiled code that releases it.

    A thread cannot be killed. One that is given up on is left behind and ends with the process at the latest; its
    result is dropped, and a new thread takes its place.

    Args:
        work: runs one job.
        workers: threads.
        limit: seconds for one job, or ``None``.
        inline: seconds below which jobs run in the calling thread, where there is one worker or one job and no limit.
            How long they take is known from the last ones. Compiled code in the main thread keeps signals from being
            handled, so that Ctrl-C has no effect until it ends.
    """

    def __init__(self, work: Work[Job, Result], *, workers: int, limit: float | None, inline: float = math.inf) -> None:
        self.work, self.workers, self.limit = work, workers, limit
        self._inline = inline if limit is None else 0.0
        self._took = 0.0 if inline == math.inf else math.inf  # seconds per job in the last call
        self._jobs: queue.SimpleQueue[tuple[_Batch, int] | None] = queue.SimpleQueue()
        self._threads: list[_Thread] = []
        self._left: list[_Thread] = []
        self._lock = threading.Lock()  # several threads may call ``map`` at the same time
        # Threads hold the queue and not this object, so that they end when it is no longer needed.
        weakref.finalize(self, _dismiss, self._jobs, workers)

    def map(self, jobs: Sequence[Job]) -> list[Result | Unanswered]:
        """Return ``work(job)`` of every job, in order, or why there is none.

        Raises:
            SolveError: too many threads hang at the same time.
            BaseException: what ``work`` raised.
        """
        start = time.monotonic()
        try:
            if self._took < self._inline and (self.workers == 1 or len(jobs) < 2):
                return [self.work(job, _no_clock) for job in jobs]
            return self._in_threads(jobs)
        finally:
            if self._inline < math.inf and jobs:
                self._took = (time.monotonic() - start) / len(jobs)

    def _in_threads(self, jobs: Sequence[Job]) -> list[Result | Unanswered]:
        with self._lock:
            while len(self._threads) < self.workers:
                self._threads.append(_Thread(self._jobs))
        batch = _Batch(self.work, jobs)
        results: dict[int, Result | Unanswered] = {}
        for k in range(len(jobs)):
            self._jobs.put((batch, k))
        try:
            while len(results) < len(jobs):
                try:
                    k, answer = batch.answers.get(timeout=self._patience())
                except queue.Empty:
                    self._give_up()
                    continue
                if isinstance(answer, BaseException):
                    raise answer
                results[k] = answer
        finally:
            batch.dropped = True
        return [results[k] for k in range(len(jobs))]

    def _patience(self) -> float | None:
        """Seconds until the first thread is late; the limit where none has begun."""
        if self.limit is None:
            return None
        began = [since for thread in self._threads if (since := thread.since) is not None]
        return max(min(began) + self.limit - time.monotonic(), 0.001) if began else self.limit

    def _give_up(self) -> None:
        """Answer late jobs, of whichever batch, and replace their threads."""
        assert self.limit is not None
        late = Unanswered(Status.TIME_LIMIT, f"took longer than {self.limit:g} s and was given up on")
        with self._lock:
            for place, thread in enumerate(self._threads):
                if not thread.abandon(late, self.limit):
                    continue
                self._left = [*(old for old in self._left if old.is_alive()), thread]
                if len(self._left) > MOST_HANGING:
                    raise SolveError(
                        f"{len(self._left)} solves hang past their time limit, more than {MOST_HANGING}: the solver is "
                        "broken, or the time limit is far too short"
                    )
                self._threads[place] = _Thread(self._jobs)


class _Batch:
    """Jobs that came together, and the queue of their answers."""

    def __init__(self, work: Work[Any, Any], jobs: Sequence[Any]) -> None:
        self.work, self.jobs = work, jobs
        self.answers: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.dropped = False


class _Thread(threading.Thread):
    """Takes jobs until it is dismissed or given up on."""

    def __init__(self, jobs: queue.SimpleQueue[tuple[_Batch, int] | None]) -> None:
        super().__init__(name="regretless-solver", daemon=True)  # one that hangs must not keep the process alive
        self.jobs, self.lock = jobs, threading.Lock()
        self.abandoned = False
        self.since: float | None = None  # when the clock of the current job started
        self._batch: _Batch | None = None  # of the current job
        self._position = -1
        self.start()

    @property
    def busy(self) -> bool:
        """Whether it works on a job, also before the clock of the job starts and after it was given up on."""
        return self._batch is not None or self.since is not None

    def abandon(self, late: Unanswered, limit: float) -> bool:
        """Answer the current job with ``late`` and end after it, if it takes longer than ``limit`` seconds."""
        with self.lock:
            if self.abandoned or self._batch is None or self.since is None or time.monotonic() - self.since < limit:
                return False
            self.abandoned = True
            self._batch.answers.put((self._position, late))
            self._batch = None
            return True

    def run(self) -> None:
        while not self.abandoned and (item := self.jobs.get()) is not None:
            batch, position = item
            if batch.dropped:
                continue
            self._batch, self._position = batch, position
            answer: Any
            try:
                answer = batch.work(batch.jobs[position], self._clock)
            except BaseException as error:  # the thread must go on: the caller of map raises it
                answer = error
            with self.lock:
                self.since = self._batch = None
                if not self.abandoned:
                    batch.answers.put((position, answer))
            del batch, item, answer  # otherwise the last batch stays in memory until the next one comes

    def _clock(self) -> None:
        self.since = time.monotonic()


def at_work() -> bool:
    """Whether a thread still works on a job, as after an interruption or where it was given up on."""
    ours = (thread for thread in threading.enumerate() if isinstance(thread, _Thread))
    return any(thread.busy for thread in ours) or any(others() for others in OTHERS_AT_WORK)


@atexit.register
def _wait_at_exit() -> None:
    """Let threads finish short jobs: Python ends threads that come back from compiled code while it shuts down.

    Before Python 3.14 this aborts the process where that code is C++, as of HiGHS.
    """
    deadline = time.monotonic() + EXIT_SECONDS
    while at_work() and time.monotonic() < deadline:
        time.sleep(0.01)


def _no_clock() -> None:
    """Nothing is timed in the calling thread."""


def _dismiss(jobs: queue.SimpleQueue[Any], workers: int) -> None:
    for _ in range(workers):
        jobs.put(None)
