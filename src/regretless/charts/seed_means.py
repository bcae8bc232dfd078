"""Mean and sample deviation over the seeds: of single figures, and of learning curves."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from regretless.charts.axis_scale import drawable
from regretless.charts.numbers import finite

History = Sequence[Mapping[str, float | None]]
# An early stop is recognized by the regret of its epoch; both evaluate the same weights on the same data.
SAME_REGRET = 1e-6


@dataclass(frozen=True)
class Statistic:
    """Mean and sample deviation over the ``count`` finite values; ``lost`` is the number of the others."""

    mean: float | None
    deviation: float | None
    count: int
    lost: int


@dataclass(frozen=True)
class CurvePoint:
    """Means over the seeds that reached an epoch, and the sample deviation of ``y``."""

    epoch: int
    x: float
    y: float
    deviation: float | None
    seeds: int


@dataclass(frozen=True)
class RestoredPoint:
    """Where training ended when early stopping restored earlier weights.

    Attributes:
        x: mean place of the final weights on the axis of the curve.
        y, deviation: test regret of the final weights, as in the tables.
        epochs: restored epoch of each seed that was stopped.
        seeds: number of all seeds.
    """

    x: float
    y: float
    deviation: float | None
    epochs: tuple[int, ...]
    seeds: int


def summarize(values: Iterable[float | None]) -> Statistic:
    """Mean and sample deviation; a missing value is ignored, one that is not finite is counted as lost."""
    known = [value for value in values if value is not None]
    kept = finite(known)
    lost = len(known) - len(kept)
    if not kept:
        return Statistic(known[0] if known else None, None, 0, lost)
    if max(abs(value) for value in kept) > 1e150:  # squares would overflow
        return Statistic(math.fsum(value / len(kept) for value in kept), None, len(kept), lost)
    deviation = statistics.stdev(kept) if len(kept) > 1 else None
    return Statistic(statistics.fmean(kept), deviation, len(kept), lost)


def mean_curve(histories: Iterable[History], column: str, *, over: str = "epoch") -> list[CurvePoint]:
    """Average a column over the seeds, epoch by epoch.

    Args:
        histories: one per seed; their lengths may differ.
        column: what to average; epochs without a drawable value are left out.
        over: ``"epoch"``, or a column that is added up along the epochs, such as ``"seconds"`` or ``"solves"``.
    """
    by_epoch: dict[int, list[tuple[float, float]]] = {}
    for history in histories:
        for epoch, (x, row) in enumerate(zip(_places(history, over), history, strict=False), start=1):
            value = row.get(column)
            if value is not None and drawable(value):
                by_epoch.setdefault(epoch, []).append((x, value))
    points = []
    for epoch, pairs in sorted(by_epoch.items()):
        y = summarize(value for _, value in pairs)
        if y.mean is not None:
            points.append(CurvePoint(epoch, statistics.fmean(x for x, _ in pairs), y.mean, y.deviation, y.count))
    return points


def restored_point(runs: Iterable[tuple[History, float | None]], *, over: str = "epoch") -> RestoredPoint | None:
    """Find the weights that runs ended with, where early stopping restored earlier ones in at least one run.

    Args:
        runs: per seed, the history and the test regret of the final weights.
        over: the axis, as for ``mean_curve``.
    """
    ends, regrets, epochs = [], [], []
    for history, regret in runs:
        restored, places = restored_epoch(history, regret), _places(history, over)
        if regret is None or not drawable(regret) or not places:
            continue
        ends.append(places[(restored or len(places)) - 1])
        regrets.append(regret)
        epochs += [restored] if restored else []
    y = summarize(regrets)
    if not epochs or y.mean is None:
        return None
    return RestoredPoint(statistics.fmean(ends), y.mean, y.deviation, tuple(epochs), len(ends))


def restored_epoch(history: History, regret: float | None) -> int | None:
    """Epoch whose weights a run ended with; ``None`` where those are the weights of the last epoch.

    >>> restored_epoch([{"test_regret": 9.0}, {"test_regret": 4.0}, {"test_regret": 7.0}], 4.0)
    2
    """
    found = [row.get("test_regret") for row in history]
    if regret is None or not found:
        return None
    same = [
        value is not None and math.isclose(value, regret, rel_tol=SAME_REGRET, abs_tol=SAME_REGRET) for value in found
    ]
    if same[-1] or not any(same):
        return None
    validation = [row.get("validation_regret") for row in history]
    candidates = [epoch for epoch, is_same in enumerate(same, start=1) if is_same]
    return min(candidates, key=lambda epoch: math.inf if (v := validation[epoch - 1]) is None else v)


def _places(history: History, over: str) -> list[float]:
    if over == "epoch":
        return [float(epoch) for epoch in range(1, len(history) + 1)]
    steps = [row.get(over) for row in history]
    return list(accumulate(step or 0.0 for step in steps)) if all(map(drawable, steps)) else []
