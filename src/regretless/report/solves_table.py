"""The exact solves of one problem by purpose: one row per method, means over the seeds."""

from __future__ import annotations

import statistics
from typing import get_args

from regretless.charts.text import show
from regretless.report.groups import Group, Section
from regretless.report.sortable_table import Cell, Column, SortableTable
from regretless.runs.run_ledger import read_count
from regretless.solvers.ledger import Purpose

EXPLAIN = {
    "labels": "true optima, solved once and shared by all runs",
    "growth": "solves of training",
    "watching": "regrets of single epochs, on validation or test data",
    "scoring": "comparison of candidates in a search",
    "evaluation": "the figures at the end",
    "decisions": "use of the trained model",
}


def solves_table(section: Section) -> SortableTable | None:
    """Build the table; ``None`` for runs of older versions, which have no ledger."""
    purposes = [purpose for purpose in get_args(Purpose) if any(_means(g, purpose)[0] for g in section.groups)]
    if not purposes:
        return None
    columns = [Column("method", numeric=False), *(Column(name, explain=EXPLAIN[name]) for name in purposes)]
    rows = [[Cell(group.label), *(_cell(group, purpose) for purpose in purposes)] for group in section.groups]
    return SortableTable(f"Exact solves on {section.label}, with their seconds: means over the seeds", columns, rows)


def _means(group: Group, purpose: str) -> tuple[float, float]:
    counts = [read_count(run.metrics.get("ledger"), purpose) for run in group.runs]
    return statistics.fmean(c["solves"] for c in counts), statistics.fmean(c["seconds"] for c in counts)


def _cell(group: Group, purpose: str) -> Cell:
    solves, seconds = _means(group, purpose)
    return Cell(f"{solves:,.0f}", solves, f"({show(seconds, digits=2)} s)" if solves else "")
