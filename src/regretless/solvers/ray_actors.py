"""Ray actors that run jobs, on one machine or many."""

from __future__ import annotations

import contextlib
import os
import pickle
import threading
import time
import warnings
import weakref
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Generic

from regretless.errors import InputError, RegretlessWarning, SolveError
from regretless.optional import need
from regretless.solvers import ray_cluster
from regretless.solvers.executors import Clock, Job, Result, Unanswered, Work
from regretless.solvers.slices import slice_size, stays_local
from regretless.solvers.threads import Threads
from regretless.types import Status

START_SECONDS = 120.0  # for the first actor to start
MOST_FAILED_STARTS = 5  # one after another
MOST_LOSSES = 2  # of actors, by one job
PACKAGES = ("regretless", "numpy", "highspy", "pyscipopt", "ortools", "gurobipy")


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
        self._threads: Threads[Job, _Timed] = Threads(_Timing(work), workers=here, limit=limit)
        self._seconds = 0.0  # of one job, by the last batches; 0 before the first
        self._crashing = False
        self._crew: _Crew | None = None
        self._lock = threading.Lock()

    @staticmethod
    def check(work: Work[Any, Any]) -> bytes:
        """Pickle the work as Ray does, or raise an ``InputError``."""
        ray = need("ray", pip="regretless[ray]", why="run on Ray")
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
        answers: Sequence[_Timed | Unanswered]
        # What a solver does to its process is found out in an actor: the first batch never runs here.
        if self._seconds and not self._crashing and stays_local(len(jobs), self._seconds):
            answers = self._threads.map(jobs)
        else:
            with self._lock:
                answers = self._spread(jobs)
        timed = [answer for answer in answers if isinstance(answer, _Timed)]
        if timed:
            mean = sum(answer.seconds for answer in timed) / len(timed)
            self._seconds = (self._seconds + mean) / 2 if self._seconds else max(mean, 1e-9)
        return [answer.result if isinstance(answer, _Timed) else answer for answer in answers]

    def _spread(self, jobs: Sequence[Job]) -> list[_Timed | Unanswered]:
        """Let actors take slices until every job has an answer."""
        if self._crew is None or self._crew.lost_connection():
            ray = ray_cluster.connect(self._address, cpus=self._workers)
            self._crew = _Crew(ray, self._work, self._limit, self._workers)
        crew = self._crew
        waiting, alone = deque(range(len(jobs))), deque[int]()
        losses: Counter[int] = Counter()
        answers: dict[int, _Timed | Unanswered] = {}
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


class _Crew:
    """The actors: which of them start, are idle, or work on a slice."""

    def __init__(self, ray: Any, work: bytes, limit: float | None, workers: int) -> None:
        self._ray, self._limit, self._workers = ray, limit, workers
        self._job = ray.get_runtime_context().get_job_id()
        self._work = ray.put(work)
        kind = ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(_Actor)
        self._new = kind.remote
        self.idle: list[Any] = []
        self._starting: dict[Any, Any] = {}
        self._running: dict[Any, tuple[Any, Any]] = {}
        self._all: set[Any] = set()
        self._failed_starts, self._warned = 0, False
        weakref.finalize(self, _dismiss, ray, self._all)
        for _ in range(workers):
            self._start()

    def lost_connection(self) -> bool:
        """Whether the user's program has left the cluster, or joined another one, since the actors were started."""
        ray = self._ray
        return not ray.is_initialized() or ray.get_runtime_context().get_job_id() != self._job

    def send(self, jobs: Sequence[Any], token: Any) -> None:
        """Give a slice to an idle actor; ``collect`` returns the token with the answers."""
        actor = self.idle.pop()
        self._running[actor.run.remote(pickle.dumps(jobs))] = actor, token

    def collect(self) -> Iterable[tuple[Any, list[Any] | BaseException | None]]:
        """Wait for one actor: answers, what the work raised, or ``None`` for a slice that was lost with its actor."""
        ray = self._ray
        done, _ = ray.wait([*self._running, *self._starting], timeout=None if self._running else START_SECONDS)
        if not done:
            raise SolveError(
                f"no Ray actor started within {START_SECONDS:g} s: the cluster has {ray_cluster.cpus(ray)} CPUs, of "
                f"which {ray_cluster.cpus(ray, free=True)} are free, and every worker needs one"
            )
        for ref in done:
            if ref in self._starting:
                self._started(self._starting.pop(ref), ref)
                continue
            actor, token = self._running.pop(ref)
            try:
                found = pickle.loads(ray.get(ref))
            except ray.exceptions.RayTaskError as error:  # not the work's: that would have been returned
                found = error
            except ray.exceptions.RayError:
                found = None
            if found is None or (isinstance(found, list) and any(isinstance(one, Unanswered) for one in found)):
                self._end(actor)  # lost, or a job hangs in it
                self._start()
            else:
                self.idle.append(actor)
            yield token, found

    def _start(self) -> None:
        actor = self._new(self._work, self._limit)
        self._all.add(actor)
        self._starting[actor.ready.remote()] = actor

    def _started(self, actor: Any, ref: Any) -> None:
        try:
            versions = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            self._end(actor)
            self._failed_starts += 1
            if self._failed_starts >= MOST_FAILED_STARTS:
                raise SolveError(
                    f"{MOST_FAILED_STARTS} Ray actors in a row did not start; does every node have regretless and the "
                    f"modules of your solver? The last one said: {error}"
                ) from error
            self._start()
            return
        self._failed_starts = 0
        self.idle.append(actor)
        here = _versions()
        different = [
            f"{name} {versions.get(name)} (here {here.get(name)})"
            for name in here | versions
            if versions.get(name) != here.get(name)
        ]
        if different and not self._warned:
            self._warned = True
            said = ", ".join(different)
            warnings.warn(f"a node has {said}: its solutions may differ", RegretlessWarning, stacklevel=2)

    def _end(self, actor: Any) -> None:
        self._all.discard(actor)
        with contextlib.suppress(Exception):  # it has ended already
            self._ray.kill(actor)


class _Actor:
    """Holds the work and runs slices of jobs (in a worker of the cluster)."""

    def __init__(self, work: bytes, limit: float | None) -> None:
        self._threads: Threads[Any, Any] = Threads(_Timing(pickle.loads(work)), workers=1, limit=limit)

    def ready(self) -> dict[str, str]:
        """Answer as soon as the actor has started, with the versions of its packages."""
        return _versions()

    def run(self, jobs: bytes) -> bytes:
        """Run pickled jobs, and return pickled answers, or what the work raised.

        Ray itself would return arrays that cannot be written to.
        """
        try:
            return pickle.dumps(self._threads.map(pickle.loads(jobs)))
        except Exception as error:
            return pickle.dumps(error)


@dataclass(frozen=True)
class _Timed:
    """A result with the seconds that it took."""

    result: Any
    seconds: float


class _Timing:
    """Measures jobs from when they start their clock: loading a solver is not solving."""

    def __init__(self, work: Work[Any, Any]) -> None:
        self.work = work

    def __call__(self, job: Any, clock: Clock) -> _Timed:
        since = time.perf_counter()

        def started() -> None:
            nonlocal since
            clock()
            since = time.perf_counter()

        result = self.work(job, started)
        return _Timed(result, time.perf_counter() - since)


def _dismiss(ray: Any, actors: set[Any]) -> None:
    for actor in actors if ray.is_initialized() else ():
        with contextlib.suppress(Exception):  # the cluster may be gone
            ray.kill(actor)


def _versions() -> dict[str, str]:
    """Versions of the packages that decide which of several optima is found."""
    found = {}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found
