"""Runs that differ in their seed only form one group: a row of a table, a line of a chart; and the order of both."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from regretless.charts.curves import Statistic, summarize
from regretless.charts.text import show
from regretless.report.report_data import DONE, Run
from regretless.runs.method_names import BASELINE

METHODS = (
    "two-stage", "spo", "spo-relax", "spo-cache", "blackbox", "blackbox-cache", "qptl", "interior",
    "nce-c", "nce-dc", "nce-2c", "map-c", "map-dc", "map-2c",
)  # fmt: skip
# Which data a run without test data was evaluated on -> its name.
ON = {"validation": "validation", "train": "training"}
PROBLEMS = ("synthetic", "knapsack", "energy", "matching")
# Options that change how long a solve takes, never what is solved: such runs may stand in one table.
ENGINE_OPTIONS = ("engine", "workers", "store")
FILE_OPTIONS = ("features", "costs", "constraints")


def method_order(name: str) -> tuple[int, str]:
    """Sort key of a method."""
    return (METHODS.index(name) if name in METHODS else len(METHODS), name)


def natural_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key of a name in which ``knapsack-60`` comes before ``knapsack-120``."""
    # Longer strings of digits are split: no name needs the value of a number with thousands of digits.
    parts = re.split(r"(\d{1,15})", name)
    return tuple((1, int(part), "") if part.isdecimal() and part.isascii() else (0, 0, part) for part in parts)


def run_order(run: Run) -> tuple[object, ...]:
    """Sort key of a run: problem, method, seed."""
    seed = run.spec.get("seed")
    family = run.problem.split("-")[0]
    known = PROBLEMS.index(family) if family in PROBLEMS else len(PROBLEMS)
    seed = seed if isinstance(seed, int) else -1
    return (known, natural_order(run.problem), method_order(run.method), seed, run.name)


@dataclass(frozen=True)
class Group:
    """Finished runs with one specification and several seeds.

    Attributes:
        method: name of the method.
        variant: what distinguishes it from other groups of the method, such as ``p_solve 5 %``; may be empty.
        runs: one per seed.
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

    @property
    def seeds(self) -> int:
        """Number of different seeds."""
        return len(self.runs)

    def statistic(self, name: str) -> Statistic:
        """Mean and deviation of a figure."""
        return summarize(run.metric(name) for run in self.runs)


@dataclass(frozen=True)
class Section:
    """All groups on one problem with one set of data; ``label`` is its heading."""

    label: str
    groups: tuple[Group, ...]

    @property
    def regret(self) -> str:
        """What the regrets of its runs are called, by the data that they are on."""
        on = {str(run.metrics.get("on")) for group in self.groups for run in group.runs}
        return f"{ON.get(on.pop(), 'test')} regret" if len(on) == 1 else "test regret"


def sections(runs: Iterable[Run]) -> tuple[Section, ...]:
    """Sort finished runs into problems and groups, in the order they come."""
    by_data: dict[str, list[Run]] = {}
    for run in runs:
        if run.status == DONE:
            key = json.dumps([run.spec.get("problem"), _data_options(run)], sort_keys=True, default=str)
            by_data.setdefault(key, []).append(run)
    return tuple(Section(_heading(members[0]), _groups(members)) for members in by_data.values())


def describe(settings: Mapping[str, Any]) -> str:
    """Write settings as ``name value, name value``.

    >>> describe({"grow_at": "predicted", "p_solve": 0.05, "cost_variables": ["x_*", "y"]})
    'cost_variables x_* y, grow_at predicted, p_solve 5 %'
    """
    return ", ".join(
        f"{key} {percent(value) if key == 'p_solve' and isinstance(value, int | float) else _words(value)}"
        for key, value in sorted(settings.items())
    )


def percent(value: float | None, places: int | None = None) -> str:
    """Write a share in percent.

    >>> percent(0.05), percent(0.11709, 2), percent(None)
    ('5 %', '11.71 %', '–')
    """
    if value is None or not math.isfinite(value):
        return show(value)
    number = show(100 * value, places) if places is not None else f"{100 * value:.4g}"
    return f"{number} %"


def _heading(run: Run) -> str:
    """Name the problem and what its data are; files by their names without folders."""
    options = _data_options(run)
    files = [f"{role} {PurePath(str(options.pop(role))).name}" for role in FILE_OPTIONS if options.get(role)]
    heading = f"{run.problem} with {' and '.join(files)}" if files else run.problem
    return f"{heading} ({describe(options)})" if options else heading


def _data_options(run: Run) -> dict[str, Any]:
    return {key: value for key, value in run.part("options").items() if key not in ENGINE_OPTIONS}


def _groups(runs: list[Run]) -> tuple[Group, ...]:
    by_seed: dict[str, dict[str, Run]] = {}
    for run in runs:
        group_of = by_seed.setdefault(json.dumps(_identity(run), sort_keys=True, default=str), {})
        # A run that was repeated in another folder counts once: it is not another sample.
        group_of[str(run.spec.get("seed", run.name))] = run
    members = [list(group_of.values()) for group_of in by_seed.values()]
    groups = []
    for group in members:
        alike = [_identity(other[0]) for other in members if other[0].method == group[0].method]
        mine = _identity(group[0])
        apart = {key: mine.get(key) for key in set().union(*alike) if any(a.get(key) != mine.get(key) for a in alike)}
        groups.append(Group(group[0].method, describe(apart) or _fit(group[0]), tuple(group)))
    return tuple(sorted(groups, key=lambda group: (method_order(group.method), _rank(group), group.variant)))


def _fit(run: Run) -> str:
    """How a two-stage run was fitted, where the page compares it with another two-stage model."""
    gradient = run.method == BASELINE and run.part("settings").get("fit") != "best"
    return "gradient" if gradient and run.days else ""


def _identity(run: Run) -> dict[str, Any]:
    """Everything in a specification but the seed, flat, always with the probability of a solve."""
    flat = {key: value for key, value in run.spec.items() if key not in ("seed", "settings", "options", "watch")}
    return flat | run.part("options") | run.part("settings") | {"p_solve": run.p_solve}


def _rank(group: Group) -> float:
    return -1.0 if group.p_solve is None or math.isnan(group.p_solve) else group.p_solve


def _words(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "default", True: "yes", False: "no"}[value]
    if isinstance(value, list | tuple):
        return " ".join(map(_words, value)) or "none"
    return f"({describe(value)})" if isinstance(value, Mapping) else str(value)
