"""The summary table of one problem: a row a method, the best values marked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from regretless.report.grid import Cell, Column, grid
from regretless.report.groups import Section, Statistic, percent
from regretless.report.markup import Markup, join, tag
from regretless.report.numbers import decimals, show

LOW, HIGH = 1, -1


@dataclass(frozen=True)
class Measure:
    """A column of figures: its name in ``metrics.json`` and how it is shown.

    Attributes:
        name: key of the figure.
        title, explain: heading, and what it says when pointed at.
        better: ``LOW``, ``HIGH``, or 0 where no value is best.
        share: shown as per cent.
        whole: a count.
        digits: significant digits of the smallest value.
    """

    name: str
    title: str
    explain: str
    better: int = 0
    share: bool = False
    whole: bool = False
    digits: int = 3


MEASURES = (
    Measure("regret", "test regret", "mean loss of value a test instance, exact; lower is better", LOW, digits=4),
    Measure("relative_regret", "relative regret", "sum of regrets over optimal values", LOW, share=True, digits=4),
    Measure("mse", "MSE", "mean squared error of the predicted costs on the test data", LOW),
    Measure("auc", "AUC", "area under the ROC curve, where costs are yes or no", HIGH),
    Measure("epoch_seconds", "seconds per epoch", "training only, without evaluation", LOW),
    Measure("solves", "solver calls", "exact solves during training", whole=True),
    Measure("lookups", "look-ups", "instances answered by the cache", whole=True),
    Measure("cache_size", "cache size", "different solutions in the cache at the end", whole=True),
)


def summary(section: Section) -> Markup:
    """Build the table of a problem."""
    variants = any(group.variant for group in section.groups)
    columns = [Column("method", numeric=False), *([Column("variant", numeric=False)] if variants else [])]
    columns += [Column("p_solve", explain="probability that an instance is solved exactly in a step"), Column("seeds")]
    rows: list[list[Cell]] = []
    for group in section.groups:
        row = [Cell(group.method), *([Cell(group.variant)] if variants else [])]
        row += [Cell(percent(group.p_solve), group.p_solve), Cell(str(len(group.runs)), float(len(group.runs)))]
        rows.append(row)
    for measure in MEASURES:
        found = [group.statistic(measure.name) for group in section.groups]
        if all(one.mean is None for one in found):
            continue
        columns.append(Column(measure.title, explain=measure.explain))
        for row, cell in zip(rows, _cells(measure, found), strict=True):
            row.append(cell)
    return grid(f"Results on {section.label}, mean ± deviation over the seeds", columns, rows, hide_caption=True)


def _cells(measure: Measure, found: list[Statistic]) -> list[Cell]:
    means = [one.mean for one in found]
    scale = 100.0 if measure.share else 1.0
    places = decimals([None if m is None else scale * m for m in means], digits=measure.digits)
    if measure.whole and all(m is None or m == round(m) for m in means if m == m and abs(m or 0) < 1e15):
        places = 0
    write = _writer(measure, places)
    candidates = [one.mean for one in found if one.mean is not None and one.count and not one.lost]
    best = None
    if measure.better and len({write(value) for value in candidates}) > 1:
        best = write(min(candidates, key=lambda value: measure.better * value))
    return [_cell(one, write, best) for one in found]


def _writer(measure: Measure, places: int | None) -> Callable[[float | None], str]:
    return lambda value: percent(value, places) if measure.share else show(value, places)


def _reach(one: Statistic, write: Callable[[float | None], str]) -> str:
    """The deviation; with two digits where the mean is a power of ten and its own digits would say nothing."""
    return show(one.deviation, digits=2) if "×" in write(one.mean) else write(one.deviation)


def _cell(one: Statistic, write: Callable[[float | None], str], best: str | None) -> Cell:
    text = write(one.mean)
    # What reads alike is equally good: digits that are not shown decide nothing.
    content: object = text
    if one.deviation is not None and one.deviation > 0:
        content = join([text, tag("span", f" ± {_reach(one, write)}", class_="deviation")])
    if one.lost and one.count:
        content = join([content, tag("span", f" ({one.lost} not finite)", class_="warn")])
    return Cell(content, one.mean, best=text == best and not one.lost)
