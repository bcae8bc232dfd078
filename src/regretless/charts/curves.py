"""Means over the seeds with their sample deviation: of single figures, and of learning curves."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from regretless.charts.axis_scale import drawable
from regretless.charts.chart_data import Point, Series
from regretless.charts.style import SeriesStyle
from regretless.charts.text import finite, show, show_seconds

# Per seed: the rows of its history, and the test regret of its final weights.
SeedRun = tuple[Sequence[Mapping[str, float | None]], float | None]


@dataclass(frozen=True)
class Statistic:
    """Mean and sample deviation over the ``count`` finite values; ``lost`` is the number of the others."""

    mean: float | None
    deviation: float | None
    count: int
    lost: int

    def __str__(self) -> str:
        spread = f" ± {show(self.deviation)}" if self.deviation else ""
        return f"{show(self.mean)}{spread}" + (f" ({self.count} seeds)" if self.count > 1 else "")


def summarize(values: Iterable[float | None]) -> Statistic:
    """Mean and sample deviation; a missing value is ignored, one that is not finite is counted as lost.

    >>> str(summarize([1.0, 3.0, None]))
    '2.000 ± 1.414 (2 seeds)'
    """
    known = [value for value in values if value is not None]
    kept = finite(known)
    lost = len(known) - len(kept)
    if not kept:
        return Statistic(known[0] if known else None, None, 0, lost)
    if max(abs(value) for value in kept) > 1e150:  # squares would overflow
        return Statistic(math.fsum(value / len(kept) for value in kept), None, len(kept), lost)
    deviation = statistics.stdev(kept) if len(kept) > 1 else None
    return Statistic(statistics.fmean(kept), deviation, len(kept), lost)


def curve_series(
    label: str, style: SeriesStyle, runs: Sequence[SeedRun], column: str, *, over: str = "epoch", key: int = 0,
    value: str = "test regret {}",
) -> Series:  # fmt: skip
    """Average a column of the histories over the seeds, epoch by epoch.

    Args:
        label, style, key: of the series.
        runs: one per seed; their lengths may differ.
        column: what to average; epochs without a drawable value are left out.
        over: ``"epoch"``, or a column that is added up along the epochs: ``"seconds"`` or ``"solves"``.
        value: what the text of a point says about its value.

    Returns:
        The series; a curve of test regrets has the mark of an early stop.
    """
    by_epoch: dict[int, list[tuple[float, float]]] = {}
    for history, _ in runs:
        for epoch, (x, row) in enumerate(zip(_places(history, over), history, strict=False), start=1):
            found = row.get(column)
            if found is not None and drawable(found):
                by_epoch.setdefault(epoch, []).append((x, found))
    points = []
    for epoch, pairs in sorted(by_epoch.items()):
        x, y = statistics.fmean(x for x, _ in pairs), summarize(found for _, found in pairs)
        where = {"seconds": f", {show_seconds(x)} of training", "solves": f", {show(x)} solves"}.get(over, "")
        text = f"{label}\nepoch {epoch}{where}\n{value.format(y)}"
        points.append(Point(x, y.mean or 0.0, y.deviation, text))
    restored = _restored(label, runs, over) if column == "test_regret" else None
    return Series(label, style, tuple(points), key, restored)


def restored_epoch(run: SeedRun) -> int | None:
    """Epoch whose weights early stopping restored; ``None`` where a run ended with its last weights.

    The restored epoch is the one with the test regret of the final weights: both evaluate the same weights on the same
    data. Where several epochs have it, the validation regret decides, as it did in training.

    >>> restored_epoch(([{"test_regret": 9.0}, {"test_regret": 4.0}, {"test_regret": 7.0}], 4.0))
    2
    """
    history, final = run
    regrets = [math.nan if (regret := row.get("test_regret")) is None else regret for row in history]
    same = [math.isclose(regret, math.nan if final is None else final, rel_tol=1e-6) for regret in regrets]
    if not any(same) or same[-1]:
        return None
    validation = [math.inf if (regret := row.get("validation_regret")) is None else regret for row in history]
    return min((k for k, is_same in enumerate(same) if is_same), key=lambda k: validation[k]) + 1


def _restored(label: str, runs: Sequence[SeedRun], over: str) -> Point | None:
    """Mean place and regret of the final weights, where at least one seed did not end with its last weights."""
    ends, regrets, epochs = [], [], []
    for history, final in runs:
        epoch, places = restored_epoch((history, final)), _places(history, over)
        if places and final is not None and drawable(final):
            ends.append(places[(epoch or len(places)) - 1])
            regrets.append(final)
            epochs += [epoch] if epoch else []
    if not epochs:
        return None
    regret, first, last = summarize(regrets), min(epochs), max(epochs)
    which = f"epoch {first}" if first == last else f"epochs {first} to {last}"
    seeds = f" in {len(epochs)} of {len(ends)} seeds" if len(ends) > 1 else ""
    text = f"{label}\nearly stopping restored the weights of {which}{seeds}\nfinal test regret {regret}"
    return Point(statistics.fmean(ends), regret.mean or 0.0, regret.deviation, text)


def _places(history: Sequence[Mapping[str, float | None]], over: str) -> list[float]:
    if over == "epoch":
        return [float(epoch) for epoch in range(1, len(history) + 1)]
    steps = [row.get(over) for row in history]
    return list(accumulate(step or 0.0 for step in steps)) if all(map(drawable, steps)) else []
