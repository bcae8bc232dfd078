"""Threads for jobs that may hang: the caller waits until its deadline and then goes on without the answer.

A pool of the standard library joins its threads when the process ends, so that one job that hangs would keep the
process alive. These threads are daemons. One that hangs is left behind, and another one takes the next job.
"""

from __future__ import annotations

import os
import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from regretless.number_checks import check_integer
from regretless.solvers.threads import OTHERS_AT_WORK

Answer = TypeVar("Answer")
IDLE_SECONDS = 30.0


class Job(Generic[Answer]):
    """One call that runs in a lane."""

    def __init__(self, work: Callable[[], Answer]) -> None:
        self._work: Callable[[], Answer] | None = work
        self._done = threading.Event()
        self.abandoned = False
        self.answer: Answer | None = None
        self.error: BaseException | None = None

    def wait(self, until: float | None) -> bool:
        """Wait for the end, at most until a time of ``time.monotonic``; says whether it has ended."""
        return self._done.wait(None if until is None else max(0.0, until - time.monotonic()))

    def run(self) -> None:
        """Do the work, unless the request has ended."""
        work, self._work = self._work, None  # the work may hold a model: nothing outlives the job
        if work is None or self.abandoned:
            return
        try:
            self.answer = work()
        except BaseException as error:  # the lane must go on: the caller reads the error
            self.error = error
        self._done.set()


class Lanes:
    """Runs jobs at once, each in a thread of its own, up to ``most`` threads.

    Threads start when they are needed and end when they have been idle for half a minute. When all of them are busy or
    hang, a job waits until one is free or its caller gives up.
    """

    def __init__(self, most: int) -> None:
        self.most = check_integer("lanes", most, least=1)
        self._reset()
        _EVERY.add(self)

    def submit(self, work: Callable[[], Answer]) -> Job[Answer]:
        """Start a job and return without waiting."""
        if self._process != os.getpid():  # threads do not survive a fork
            self._reset()
        job = Job(work)
        with self._lock:
            self._waiting += 1
            if self._waiting > self._idle and self._alive < self.most:
                self._alive += 1
                self._idle += 1
                threading.Thread(target=self._serve, name="regretless-decider", daemon=True).start()
        self._jobs.put(job)
        return job

    @property
    def alive(self) -> int:
        """Threads that exist, those that hang included."""
        return self._alive

    @property
    def busy(self) -> int:
        """Threads that work or hang."""
        return self._alive - self._idle

    @property
    def at_work(self) -> bool:
        """Whether this process has a job that has not ended."""
        return self._process == os.getpid() and (self.busy > 0 or self._waiting > 0)

    def close(self) -> None:
        """End the threads that are idle; the others end after their job."""
        for _ in range(self._alive):
            self._jobs.put(None)

    def _reset(self) -> None:
        self._process = os.getpid()
        self._jobs: queue.SimpleQueue[Job[Any] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._alive = self._idle = self._waiting = 0

    def _serve(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._waiting < self._idle:  # otherwise a job is on its way
                        self._alive -= 1
                        self._idle -= 1
                        return
                continue
            with self._lock:
                self._idle -= 1
                if job is None:
                    self._alive -= 1
                    return
                self._waiting -= 1
            job.run()
            del job  # otherwise the last answer stays in memory until the next job comes
            with self._lock:
                self._idle += 1


_EVERY: weakref.WeakSet[Lanes] = weakref.WeakSet()  # threads keep their lanes alive
OTHERS_AT_WORK.append(lambda: any(lanes.at_work for lanes in tuple(_EVERY)))
