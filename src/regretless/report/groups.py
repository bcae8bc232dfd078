"""Runs that differ in their seed only are one group: one row of a table, one line of a chart."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from regretless.report.collected import DONE, Run
from regretless.report.numbers import finite, show
from regretless.report.order import method_order

# Options that change how long a solve takes, never what is solved: such runs may stand in one table.
ENGINE_OPTIONS = ("engine", "workers", "store")


@dataclass(frozen=True)
class Statistic:
    """Mean and sample deviation over the finite values of a group; ``lost`` counts the others."""

    mean: float | None
    deviation: float | None
    count: int
    lost: int


@dataclass(frozen=True)
class Group:
    """Finished runs with one specification and several seeds.

    Attributes:
        method: name of the method.
        variant: what sets it apart from other groups of the method, such as ``p_solve 5 %``; may be empty.
        runs: one a seed.
    """

    method: str
    variant: str
    runs: tuple[Run, ...]

    @property
    def label(self) -> str:
        """Name for legends."""
        return f"{self.method} ({self.variant})" if self.variant else self.method

    @property
    def p_solve(self) -> float | None:
        """Probability of a solve, the same in every run."""
        return self.runs[0].p_solve

    def statistic(self, name: str) -> Statistic:
        """Mean and deviation of a figure."""
        return summarise(run.metric(name) for run in self.runs)


@dataclass(frozen=True)
class Section:
    """All groups on one problem with one set of data."""

    problem: str
    options: str
    groups: tuple[Group, ...]

    @property
    def label(self) -> str:
        """Heading."""
        return f"{self.problem} ({self.options})" if self.options else self.problem


def summarise(values: Iterable[float | None]) -> Statistic:
    """Mean and sample deviation; a missing value is ignored, one that is not finite is counted as lost."""
    there = [value for value in values if value is not None]
    kept = finite(there)
    lost = len(there) - len(kept)
    if not kept:
        return Statistic(there[0] if there else None, None, 0, lost)
    if max(abs(value) for value in kept) > 1e150:  # squares would overflow
        return Statistic(math.fsum(value / len(kept) for value in kept), None, len(kept), lost)
    deviation = statistics.stdev(kept) if len(kept) > 1 else None
    return Statistic(statistics.fmean(kept), deviation, len(kept), lost)


def sections(runs: Iterable[Run]) -> tuple[Section, ...]:
    """Sort finished runs into problems and groups, in the order they come."""
    by_problem: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        if run.status == DONE:
            options = {key: value for key, value in _part(run, "options").items() if key not in ENGINE_OPTIONS}
            by_problem.setdefault((run.problem, describe(options)), []).append(run)
    return tuple(Section(problem, options, _groups(members)) for (problem, options), members in by_problem.items())


def describe(settings: Mapping[str, Any]) -> str:
    """Write settings as ``name value, name value``.

    >>> describe({"grow_at": "predicted", "p_solve": 0.05})
    'grow_at predicted, p_solve 5 %'
    """
    return ", ".join(f"{key} {_value(key, value)}" for key, value in sorted(settings.items()))


def _groups(runs: list[Run]) -> tuple[Group, ...]:
    members: dict[str, list[Run]] = {}
    for run in runs:
        members.setdefault(json.dumps(_identity(run), sort_keys=True, default=str), []).append(run)
    groups = []
    for group in members.values():
        alike = [_identity(other[0]) for other in members.values() if other[0].method == group[0].method]
        mine = _identity(group[0])
        apart = {key: mine.get(key) for key in set().union(*alike) if any(a.get(key) != mine.get(key) for a in alike)}
        groups.append(Group(group[0].method, describe(apart), tuple(group)))
    return tuple(sorted(groups, key=lambda group: (method_order(group.method), _rank(group), group.variant)))


def _identity(run: Run) -> dict[str, Any]:
    """Everything in a specification but the seed, flat; the probability of a solve always among it."""
    flat = {key: value for key, value in run.spec.items() if key not in ("seed", "settings", "options", "watch")}
    return flat | _part(run, "options") | _part(run, "settings") | {"p_solve": run.p_solve}


def _part(run: Run, name: str) -> dict[str, Any]:
    value = run.spec.get(name)
    return dict(value) if isinstance(value, Mapping) else {}


def _rank(group: Group) -> float:
    return -1.0 if group.p_solve is None or math.isnan(group.p_solve) else group.p_solve


def _value(key: str, value: Any) -> str:
    if key == "p_solve" and isinstance(value, int | float):
        return percent(value)
    return "default" if value is None else str(value)


def percent(value: float | None, places: int | None = None) -> str:
    """Write a share as per cent.

    >>> percent(0.05), percent(0.11709, 2), percent(None)
    ('5 %', '11.71 %', '–')
    """
    if value is None or not math.isfinite(value):
        return show(value)
    number = show(100 * value, places) if places is not None else f"{100 * value:.4g}"
    return f"{number} %"
