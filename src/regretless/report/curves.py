"""From the histories of a group to one line: the mean over the seeds, and a band of one deviation around it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from regretless.report.collected import Run
from regretless.report.groups import Group, summarise
from regretless.report.ticks import drawable


@dataclass(frozen=True)
class Point:
    """One point of a curve: the mean of both coordinates, the deviation of the second, the seeds in it."""

    epoch: int
    x: float
    y: float
    deviation: float | None
    seeds: int


def against_epoch(group: Group, column: str) -> list[Point]:
    """The mean of a column at each epoch."""
    return _curve([_epochs(run, column, None) for run in group.runs])


def against_seconds(group: Group, column: str) -> list[Point]:
    """The mean of a column against the mean of the training seconds up to then; evaluation does not count."""
    return _curve([_epochs(run, column, "seconds") for run in group.runs])


def _epochs(run: Run, column: str, time: str | None) -> list[tuple[int, float | None, float | None]]:
    """Triples of epoch, x and y of one run."""
    count = len(run.history)
    if time is None:
        xs: list[float | None] = [float(epoch) for epoch in range(1, count + 1)]
    else:
        seconds = [row.get(time) for row in run.history]
        if any(not drawable(value) for value in seconds):
            return []
        xs = list(accumulate(value or 0.0 for value in seconds))
    return [(index + 1, xs[index], row.get(column)) for index, row in enumerate(run.history)]


def _curve(runs: list[list[tuple[int, float | None, float | None]]]) -> list[Point]:
    by_epoch: dict[int, list[tuple[float, float]]] = {}
    for rows in runs:
        for epoch, x, y in rows:
            if x is not None and y is not None and drawable(x) and drawable(y):
                by_epoch.setdefault(epoch, []).append((x, y))
    points = []
    for epoch in sorted(by_epoch):
        across, up = (summarise(values) for values in zip(*by_epoch[epoch], strict=True))
        if across.mean is not None and up.mean is not None:
            points.append(Point(epoch, across.mean, up.mean, up.deviation, up.count))
    return points
