"""Many solves in batches with a progress bar; slow solves come in small batches, so that the bar moves."""

from __future__ import annotations

import time
from collections.abc import Iterator

from regretless.long_solves import advise
from regretless.problem import Problem
from regretless.progress import track

SHORT, LONG = 0.5, 5.0  # seconds that a batch should take
# Per worker: all of them wait for the last solve of a batch, which costs a worker half a solve on average.
FEWEST = 4


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
    parts = advise(parts, n, problem)
    yield from track(parts, total=n, label=label, show=progress, count=lambda part: part.stop - part.start)


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
