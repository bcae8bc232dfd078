"""Threads for jobs that may hang: the caller waits until its deadline and then goes on without the answer.

A pool of the standard library joins its threads when the process ends, so that one job that hangs would keep the
process alive. These threads are daemons. One that hangs is left behind, and another one takes the next job. An engine
belongs to one thread at a time: it stays with the thread that built it.
"""

from __future__ import annotations

import os
import queue
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from regretless.cache.bounds.multipliers import RelaxationMultipliers
from regretless.errors import InputError, MissingDependencyError
from regretless.milp import MILP, Floats
from regretless.most_recent import MostRecentOfThread
from regretless.number_checks import check_integer
from regretless.solvers import Engine, Outcome, make_engine
from regretless.solvers.ledger import PurposeCount
from regretless.solvers.threads import OTHERS_AT_WORK
from regretless.types import Status

Answer = TypeVar("Answer")
IDLE_SECONDS = 30.0
MODELS_PER_LANE = 8


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
            make = partial(make_engine, self.engine, milp, time_limit=limit, **self.options)
            engine: Engine = self._kept(key, milp, make)
            return engine.solve(objective)
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
