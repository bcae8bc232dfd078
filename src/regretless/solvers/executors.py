"""Who executes solves: one small interface with threads, processes and Ray actors behind it.

Executors only run jobs. All that is checked about a solve is checked by the backend, whichever executor ran it.
A new executor is a class with ``map``, and ``check`` for the work that it takes, and a row in ``TABLE``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from regretless.errors import InputError
from regretless.number_checks import check_integer
from regretless.optional import need_ray
from regretless.types import Status

Job = TypeVar("Job")
Result = TypeVar("Result")

# A job starts its own clock: loading a solver is not solving.
Clock = Callable[[], None]
Work = Callable[[Job, Clock], Result]

# Threads by default; more of them wait for the interpreter lock where solves are short.
MOST_THREADS = 16
# name: module and class, imported when it is first used
TABLE: dict[str, tuple[str, str]] = {
    "threads": ("regretless.solvers.threads", "Threads"),
    "processes": ("regretless.solvers.processes", "Processes"),
    "ray": ("regretless.solvers.ray_actors", "RayActors"),
}


@dataclass(frozen=True)
class Unanswered:
    """A job without a result: it took longer than its limit (``TIME_LIMIT``), or its worker ended (``ERROR``)."""

    status: Status
    message: str


class Executor(Protocol):
    """Runs jobs, several at a time."""

    def map(self, jobs: Sequence[Any]) -> list[Any]:
        """Return one result or ``Unanswered`` per job, in order; what the work raises is raised."""


class Execution(Generic[Job, Result]):
    """An executor that is made when it is first needed, and anew in a copy or in a forked process.

    Args:
        name: of the executor: ``"threads"``, ``"processes"``, ``"ray"``, or ``"ray:ADDRESS"`` of a cluster.
        work: ``work(job, clock) -> result``; for all but threads it must be possible to pickle it.
        workers: jobs that run at the same time.
        limit: seconds for one job, from when it starts its clock; ``None`` for no limit.
        settings: of the executor that is named, such as ``inline`` of threads.
    """

    def __init__(
        self, name: str, work: Work[Job, Result], *, workers: int, limit: float | None, **settings: Any
    ) -> None:
        check_integer("workers", workers, least=1)
        kind, self._address = parse_executor(name)
        self.name, self.work, self.workers, self.limit = kind, work, workers, limit
        if kind != "threads":
            _executor(kind).check(work)
        self._settings = settings
        self._made: tuple[Executor, int, int] | None = None

    def map(self, jobs: Sequence[Job], *, version: int = 0) -> list[Result | Unanswered]:
        """Run jobs; another ``version`` of the work than in the last call starts other workers."""
        if self._made is None or self._made[1:] != (os.getpid(), version):  # threads do not survive a fork
            where = {"address": self._address} if self._address else {}
            made = _executor(self.name)(self.work, workers=self.workers, limit=self.limit, **where, **self._settings)
            self._made = made, os.getpid(), version
        return self._made[0].map(jobs)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_made": None}


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_workers(workers: int | None, executor: str = "threads") -> int:
    """The number of workers that was given; for ``None`` one thread per core, or one worker of another kind.

    Raises:
        InputError: a number that is not positive.

    >>> checked_workers(3), checked_workers(None, "processes")
    (3, 1)
    """
    if workers is None:
        return min(cores(), MOST_THREADS) if executor == "threads" else 1
    return check_integer("workers", workers, least=1)


def parse_executor(name: str, *, allowed: Sequence[str] = ()) -> tuple[str, str]:
    """Split an executor's name into its kind and the address of a cluster.

    Args:
        name: ``"threads"``, ``"processes"``, ``"ray"`` or ``"ray:ADDRESS"``.
        allowed: the kinds that can be used; by default all.

    Raises:
        InputError: another name.
        MissingDependencyError: Ray is not installed.

    >>> parse_executor("processes")
    ('processes', '')
    """
    kind, colon, address = name.partition(":")
    allowed = allowed or tuple(TABLE)
    if kind not in allowed or (colon and (kind != "ray" or not address)):
        words = [f"{word}[:ADDRESS]" if word == "ray" else word for word in allowed]
        raise InputError(f"executor must be one of {', '.join(words)}, got {name!r}")
    if kind == "ray":
        need_ray()
    return kind, address


def _executor(name: str) -> Any:
    module, kind = TABLE[name]
    return getattr(importlib.import_module(module), kind)
