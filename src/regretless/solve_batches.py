"""Many solves in batches with a progress bar; slow solves come in small batches, so that the bar moves.

Most users do not know what makes solves faster: early in many that will take long, a warning says it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from regretless.family import member
from regretless.problem import Problem
from regretless.progress import LongWork, track
from regretless.solvers.executors import cores

SHORT, LONG = 0.5, 5.0  # seconds that a batch should take
# Per worker: all of them wait for the last solve of a batch, which costs a worker half a solve on average.
FEWEST = 4
GAP = 0.001  # that is suggested


def solve_batches(
    problem: Problem, n: int, *, size: int | None, label: str, progress: bool | None = None
) -> Iterator[slice]:
    """Yield the parts of ``n`` instances that are solved together; the caller solves a part before the next one.

    An oracle that solves whole batches gets batches of ``size``. Where instances are solved one by one, their grouping
    changes no number: batches become smaller while they take long, and larger while they take no time.

    Args:
        problem: what is solved.
        n: number of instances.
        size: largest batch per worker; ``None`` for all instances at once where the oracle solves whole batches.
        label: what is being done.
        progress: show a bar; by default on a terminal.
    """
    most = n if size is None else size * problem.workers
    one_by_one = getattr(problem.backend, "one_by_one", False)
    parts = _adaptive(n, problem.workers, most) if one_by_one else _fixed(n, most)
    rest = LongWork(n, measured=20.0, long=120.0, advice=lambda left: _advice(problem, left))
    for part in track(parts, total=n, label=label, show=progress, count=lambda part: part.stop - part.start):
        yield part
        rest.step(part.stop - part.start)


def _fixed(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, max(size, 1)):
        yield slice(start, min(start + size, n))


def _adaptive(n: int, workers: int, most: int) -> Iterator[slice]:
    least = 1 if workers == 1 else FEWEST * workers
    start, size = 0, min(least, most)
    while start < n:
        end, began = min(start + size, n), time.monotonic()
        yield slice(start, end)
        start, took = end, time.monotonic() - began
        if took < SHORT:
            size = min(2 * size, most)
        elif took > LONG:
            size = max(size // 2, min(least, most))


def _advice(problem: Problem, left: str) -> str:
    """What makes the solves of an engine faster; nothing is known of other solvers."""
    if not problem.engine:
        return ""
    ways = []
    if problem.workers == 1 and getattr(problem.backend, "one_by_one", False) and (count := cores()) > 1:
        ways.append(f"workers={count} (--workers {count}) solves on all {count} cores of this machine.")
    if "gap" not in problem.options and member(problem.model).integer.any():
        ways.append(f"gap={GAP} (--gap {GAP}) ends a solve within {GAP:.1%} of the optimum.")
    return f"the solves take about {left} more. {' '.join(ways)}" if ways else ""
