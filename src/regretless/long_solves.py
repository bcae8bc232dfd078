"""Advice early in many solves that will take long: most users do not know what makes them faster."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

from regretless.errors import RegretlessWarning
from regretless.family import member
from regretless.problem import Problem
from regretless.progress import duration
from regretless.solvers.executors import cores

MEASURED = 20.0  # seconds until the time per solve is known well enough
LONG = 120.0  # seconds from which on the rest is long
GAP = 0.001  # that is suggested


def advise(parts: Iterator[slice], n: int, problem: Problem) -> Iterator[slice]:
    """Yield the parts of ``n`` instances, and warn once if the rest will take long and could take less."""
    began: float | None = time.monotonic()  # None once the estimate is made
    for part in parts:
        yield part
        if began is None or (took := time.monotonic() - began) < MEASURED:
            continue
        began, left = None, took / part.stop * (n - part.stop)
        if left > LONG and (ways := _ways(problem)):
            warnings.warn(
                f"the solves take about {duration(left)} more. {' '.join(ways)}", RegretlessWarning, stacklevel=2
            )


def _ways(problem: Problem) -> list[str]:
    """What makes the solves of an engine faster; nothing is known of other solvers."""
    if not problem.engine:
        return []
    ways = []
    if problem.workers == 1 and getattr(problem.backend, "one_by_one", False) and (count := cores()) > 1:
        ways.append(f"workers={count} (--workers {count}) solves on all {count} cores of this machine.")
    if "gap" not in problem.options and member(problem.model).integer.any():
        ways.append(f"gap={GAP} (--gap {GAP}) ends a solve within {GAP:.1%} of the optimum.")
    return ways
