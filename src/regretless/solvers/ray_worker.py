"""What runs inside a Ray actor: jobs with their seconds, and the versions of the node's packages."""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass
from typing import Any

from regretless.optional import version_of
from regretless.solvers.executors import Clock, Work
from regretless.solvers.threads import Threads

PACKAGES = ("regretless", "numpy", "highspy", "pyscipopt", "ortools", "gurobipy")


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
