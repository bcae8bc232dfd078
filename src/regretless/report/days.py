"""Decisions per instance, as a planner reads them: of the held-out data of a run, or of a log."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from regretless.charts.text import MISSING, decimals, show
from regretless.deciding.audited_run import Day, NamedValues, places_of, worst_days
from regretless.listing import listed
from regretless.report.sortable_table import Cell, Column, SortableTable
from regretless.runs.held_out import HeldOutView
from regretless.runs.method_names import BASELINE

SHOWN = 6
MOST_ROWS = 1000  # of a table: a browser is slow with more, and nobody reads them
SAME = 1e-6


def held_out_days(view: HeldOutView) -> list[Day]:
    """The instances of a run's held-out data that have a regret."""
    names = view.names or tuple(str(i) for i in range(len(view)))
    costs = view.cost_names or tuple(f"c{j}" for j in range(view.best.shape[1]))
    places = places_of(costs)
    sign = 1.0 if view.sense == "min" else -1.0
    days = []
    for i, name in enumerate(names):
        optimal, regret, other = (float(part[i]) for part in (view.optimal, view.regrets, view.two_stage_regrets))
        if math.isnan(regret):
            continue
        decided, best = (NamedValues(places, part[i].numpy()) for part in (view.decided, view.best))
        two_stage = None if math.isnan(other) else other
        days.append(Day(name, optimal + sign * regret, optimal, regret, two_stage, decided, best))
    return days


def worst_table(days: Sequence[Day], baseline: str = BASELINE) -> SortableTable | None:
    """The ten days of largest regret; those without a regret are left out, and ``None`` is the table of no day."""
    lost = worst_days(days)
    what = "The instance" if len(lost) == 1 else f"The {len(lost)} instances"
    return _table(lost, f"{what} of largest regret", baseline) if lost else None


def every_table(days: Sequence[Day]) -> SortableTable:
    """All days, those of largest regret first; of very many, the first thousand."""
    what = f"All {len(days)} instances, the largest regret first"
    if len(days) > MOST_ROWS:
        what = f"The {MOST_ROWS:,} instances of largest regret, of {len(days):,}; regretless audit --json lists all"
    return _table(sorted(days, key=lambda day: -(day.regret or 0.0))[:MOST_ROWS], what)


def _table(days: Sequence[Day], caption: str, baseline: str = BASELINE) -> SortableTable:
    """Days with what was decided and what would have been best, where they differ."""
    columns = [
        Column("instance", numeric=False),
        Column("regret", explain="how much worse the decision is than the best one in hindsight"),
        Column("objective", explain="of the decision at the true costs"),
        Column("best", explain="the best objective in hindsight"),
        Column(f"gain over {baseline}", explain=f"regret of {baseline} minus regret; positive is better"),
        Column(
            "decided, where it differs", numeric=False, explain="variables whose value differs from the best decision"
        ),
        Column("best decision", numeric=False, explain="values of the same variables in the best decision"),
    ]
    places = {name: decimals([getattr(day, name) for day in days]) for name in ("regret", "objective", "best", "gain")}
    rows = []
    for day in days:
        cells = [Cell(day.instance if day.found == "solved" else f"{day.instance} ({day.found})")]
        cells += [
            Cell(show(getattr(day, name), places[name]), getattr(day, name))
            for name in ("regret", "objective", "best", "gain")
        ]
        rows.append([*cells, *(Cell(text) for text in differences(day.decided, day.hindsight))])
    return SortableTable(caption, columns, rows)


def differences(decided: Mapping[str, float], best: Mapping[str, float]) -> tuple[str, str]:
    """Both decisions at the variables where they differ.

    >>> differences({"a": 1.0, "b": 0.0, "c": 2.0}, {"a": 0.0, "b": 0.0, "c": 2.5})
    ('a = 1, c = 2', 'a = 0, c = 2.5')
    """
    names = [n for n, value in decided.items() if abs(value - best.get(n, math.inf)) > SAME * max(1.0, abs(value))]
    if not names:
        return MISSING, MISSING
    both = [listed([f"{name} = {values[name]:.6g}" for name in names], SHOWN) for values in (decided, best)]
    return both[0], both[1]
