"""The Ray actors of one executor: what runs inside of them, and which of them start, are idle, or work on a slice."""

from __future__ import annotations

import contextlib
import pickle
import time
import warnings
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from regretless.errors import RegretlessWarning, SolveError
from regretless.optional import version_of
from regretless.solvers import ray_cluster
from regretless.solvers.executors import Clock, Unanswered, Work
from regretless.solvers.threads import Threads

PACKAGES = ("regretless", "numpy", "highspy", "pyscipopt", "ortools", "gurobipy")
START_SECONDS = 120.0  # for the first actor to start
MOST_FAILED_STARTS = 5  # one after another


@dataclass(frozen=True)
class Timed:
    """A result with the seconds that it took."""

    result: Any
    seconds: float


class Timing:
    """Measures jobs from when they start their clock: loading a solver is not solving."""

    def __init__(self, work: Work[Any, Any]) -> None:
        self.work = work

    def __call__(self, job: Any, clock: Clock) -> Timed:
        """Run one job."""
        since = time.perf_counter()

        def started() -> None:
            nonlocal since
            clock()
            since = time.perf_counter()

        result = self.work(job, started)
        return Timed(result, time.perf_counter() - since)


class SolveActor:
    """Holds the work and runs slices of jobs (in a worker of the cluster)."""

    def __init__(self, work: bytes, limit: float | None) -> None:
        self._threads: Threads[Any, Any] = Threads(Timing(pickle.loads(work)), workers=1, limit=limit)

    def ready(self) -> dict[str, str]:
        """Answer as soon as the actor has started, with the versions of its packages."""
        return versions_here()

    def run(self, jobs: bytes) -> bytes:
        """Run pickled jobs, and return pickled answers, or what the work raised.

        Ray itself would return arrays that cannot be written to.
        """
        try:
            return pickle.dumps(self._threads.map(pickle.loads(jobs)))
        except Exception as error:
            return pickle.dumps(error)


def versions_here() -> dict[str, str]:
    """Versions of the packages that decide which of several optima is found."""
    return {package: version for package in PACKAGES if (version := version_of(package))}


class Crew:
    """Starts ``workers`` actors, gives them slices, and replaces those that are lost; the pickled work travels once.

    Raises:
        SolveError: no actor can be started.
    """

    def __init__(self, ray: Any, work: bytes, limit: float | None, workers: int) -> None:
        self._ray, self._limit, self._workers = ray, limit, workers
        self._job = ray.get_runtime_context().get_job_id()
        self._work = ray.put(work)
        kind = ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(SolveActor)
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
        here = versions_here()
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


def _dismiss(ray: Any, actors: set[Any]) -> None:
    for actor in actors if ray.is_initialized() else ():
        with contextlib.suppress(Exception):  # the cluster may be gone
            ray.kill(actor)
