"""The tables of one problem, one row per method: figures with the best values marked, and exact solves by purpose."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, get_args

from regretless.charts.curves import Statistic
from regretless.charts.text import decimals, show
from regretless.report.groups import Group, Section, percent
from regretless.report.sortable_table import Cell, Column, SortableTable
from regretless.runs.run_ledger import read_count
from regretless.solvers.ledger import Purpose

LOW, HIGH = 1, -1
DIGITS = 4  # of the smallest regret
EXPLAIN = {
    "labels": "true optima, solved once and shared by all runs",
    "growth": "solves of training",
    "watching": "regrets of single epochs, on validation or test data",
    "scoring": "comparison of candidates in a search",
    "evaluation": "the figures at the end",
    "decisions": "use of the trained model",
}


class Measure(NamedTuple):
    """A column: its name in ``metrics.json``, its words, which values are best (0: none), and how it is written."""

    name: str
    title: str
    explain: str
    better: int = 0
    share: bool = False
    integers: bool = False
    digits: int = 3


MEASURES = (
    Measure("regret", "test regret", "mean loss of value per instance, exact; low is good", LOW, digits=DIGITS),
    Measure("relative_regret", "relative regret", "sum of regrets over optimal values", LOW, share=True, digits=DIGITS),
    Measure("mse", "MSE", "mean squared error of the predicted costs, on the same data as the regret", LOW),
    Measure("auc", "AUC", "area under the ROC curve, where costs are yes or no", HIGH),
    Measure("epoch_seconds", "seconds per epoch", "training only, without evaluation", LOW),
    Measure("train_seconds", "training seconds", "with all solves and recorded regrets, not the final evaluation", LOW),
    Measure("training_solves", "solver calls", "exact solves during training, scoring calls included", integers=True),
    Measure("scoring_solves", "scoring calls", "exact solves that compare candidates on held-out data", integers=True),
    Measure("lookups", "look-ups", "instances answered by the cache", integers=True),
    Measure("cache_size", "cache size", "different solutions in the cache at the end", integers=True),
)


def summary_table(section: Section) -> SortableTable:
    """Build the table of a problem."""
    variants = any(group.variant for group in section.groups)
    columns = [Column("method", numeric=False), *([Column("variant", numeric=False)] if variants else [])]
    columns += [Column("p_solve", explain="probability that an instance is solved exactly in a step"), Column("seeds")]
    rows = [
        [
            Cell(group.method), *([Cell(group.variant)] if variants else []),
            Cell(percent(group.p_solve), group.p_solve), Cell(str(group.seeds), float(group.seeds)),
        ]
        for group in section.groups
    ]  # fmt: skip
    for measure in MEASURES:
        found = [group.statistic(measure.name) for group in section.groups]
        if any(one.mean is not None for one in found):
            title = section.regret if measure.name == "regret" else measure.title
            columns.append(Column(title, explain=measure.explain))
            for row, cell in zip(rows, _cells(measure, found), strict=True):
                row.append(cell)
    return SortableTable(f"Results on {section.label}, mean ± sample deviation over the seeds", columns, rows)


def _cells(measure: Measure, found: list[Statistic]) -> list[Cell]:
    means = [one.mean for one in found]
    places = decimals([m if m is None else (100 * m if measure.share else m) for m in means], digits=measure.digits)
    if measure.integers and all(m is None or m == round(m) for m in means if m == m and abs(m or 0) < 1e15):
        places = 0

    def write(value: float | None) -> str:
        return percent(value, places) if measure.share else show(value, places)

    def write_small(value: float) -> str:
        return percent(value) if measure.share else show(value, digits=2)

    cells = [_cell(one, write, write_small) for one in found]
    candidates = [one.mean for one in found if one.mean is not None and one.count and not one.lost]
    # What reads alike is equally good: digits that are not shown decide nothing.
    if measure.better and len({write(value) for value in candidates}) > 1:
        best = write(min(candidates, key=lambda value: measure.better * value))
        cells = [replace(cell, best=cell.text == best and not cell.warning) for cell in cells]
    return cells


def _cell(one: Statistic, write: Callable[[float | None], str], write_small: Callable[[float], str]) -> Cell:
    text, deviation = write(one.mean), ""
    if one.deviation is not None and one.deviation > 0:
        # Beside a power of ten, the digits of the column would say nothing, and zeros would be wrong.
        zero = not set(write(one.deviation)) & set("123456789")
        deviation = f"± {write_small(one.deviation) if '×' in text or zero else write(one.deviation)}"
    return Cell(text, one.mean, deviation, f"({one.lost} not finite)" if one.lost and one.count else "")


def solves_table(section: Section) -> SortableTable | None:
    """Build the table; ``None`` for runs of older versions, which have no ledger."""
    purposes = [purpose for purpose in get_args(Purpose) if any(_means(g, purpose)[0] for g in section.groups)]
    if not purposes:
        return None
    columns = [Column("method", numeric=False), *(Column(name, explain=EXPLAIN[name]) for name in purposes)]
    rows = [[Cell(group.label), *(_solves_cell(group, purpose) for purpose in purposes)] for group in section.groups]
    return SortableTable(f"Exact solves on {section.label}, with their seconds: means over the seeds", columns, rows)


def _means(group: Group, purpose: str) -> tuple[float, float]:
    counts = [read_count(run.metrics.get("ledger"), purpose) for run in group.runs]
    return statistics.fmean(c["solves"] for c in counts), statistics.fmean(c["seconds"] for c in counts)


def _solves_cell(group: Group, purpose: str) -> Cell:
    solves, seconds = _means(group, purpose)
    return Cell(f"{solves:,.0f}", solves, f"({show(seconds, digits=2)} s)" if solves else "")
