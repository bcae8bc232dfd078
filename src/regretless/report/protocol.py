"""How the figures were made: the specifications, the versions of the packages and the machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from regretless.charts.text import MISSING, number
from regretless.report.groups import Section, describe, percent
from regretless.report.report_data import Run
from regretless.report.sortable_table import Cell, Column, SortableTable
from regretless.search.train_method import unused_arguments
from regretless.training import methods

FIELDS = ("epochs", "lr", "batch_size", "init", "patience")
NUMBERS = ("epochs", "learning rate", "batch size", "patience", "p_solve")
TITLES = (
    "method", "problem", "seeds", "epochs", "learning rate", "batch size", "initial weights", "patience", "p_solve",
    "settings",
)  # fmt: skip


def protocol(sections: Iterable[Section]) -> SortableTable:
    """One row per group: what its specification says, with the defaults of the method filled in."""
    columns = [Column(title, title in NUMBERS) for title in TITLES]
    rows = []
    for section in sections:
        for group in section.groups:
            run = group.runs[0]
            cells = [Cell(group.method), Cell(section.label), Cell(_ranges(run.spec.get("seed") for run in group.runs))]
            unused = _unused(run)
            cells += [
                Cell(MISSING) if name in unused else _field(name, value, group.method)
                for name, value in _used(run).items()
            ]
            cells += [Cell(percent(group.p_solve), group.p_solve), Cell(describe(_settings(run)) or MISSING)]
            rows.append(cells)
    return SortableTable("Specification of every group of runs", columns, rows)


def environment(runs: Iterable[Run]) -> list[tuple[str, str]]:
    """Versions and machine; where runs differ, how many had which."""
    found: dict[str, Counter[str]] = {}
    for run in runs:
        for key, value in run.environment.items():
            found.setdefault(key, Counter())[value] += 1
    facts = []
    for key, values in sorted(found.items()):
        counted = [f"{value} ({count} {'run' if count == 1 else 'runs'})" for value, count in sorted(values.items())]
        facts.append((key, next(iter(values)) if len(values) == 1 else ", ".join(counted)))
    return facts


def _used(run: Run) -> dict[str, Any]:
    """The fields of a specification, as the run used them."""
    used = {name: run.spec.get(name) for name in FIELDS}
    used["init"] = run.spec.get("start") or used["init"]
    if run.method == "auto":
        # A search tries a grid of learning rates, and its specification leaves the number of epochs open.
        used |= {"epochs": used["epochs"] or run.metric("epochs"), "lr": "several"}
        used["init"] = run.spec.get("start") or "two-stage"
    return used


def _unused(run: Run) -> set[str]:
    """Fields of a specification that mean nothing for its method: a closed form has no epochs and no learning rate."""
    if run.method == "auto" or run.method not in methods.TABLE:
        return set()
    given = {"epochs": run.spec.get("epochs"), "lr": run.spec.get("lr")}
    unused = set(unused_arguments(run.method, run.part("settings"), given))
    # A model that is trained until it has converged has initial weights, a closed form has none.
    closed_form = "epochs" in unused and run.method == "two-stage" and not run.metric("epochs")
    return unused | ({"init"} if closed_form else set())


def _field(name: str, value: Any, method: str) -> Cell:
    if name == "batch_size" and value is None:
        value = methods.TABLE[method].batch_size if method in methods.TABLE else None
        return Cell("default") if value is None else Cell(str(value), float(value))
    if name == "patience" and not value:
        return Cell("none")
    size = number(value)
    if size is not None and not isinstance(value, str):
        return Cell(f"{value:,}" if isinstance(value, int) else f"{size:g}", size)
    return Cell(MISSING if value is None else str(value))


def _settings(run: Run) -> dict[str, Any]:
    default = methods.TABLE[run.method].options if run.method in methods.TABLE else {}
    options = run.part("options")
    settings = dict(default) | run.part("settings") | {key: options[key] for key in ("engine",) if key in options}
    return {key: value for key, value in settings.items() if key != "p_solve"}


def _ranges(values: Iterable[Any]) -> str:
    """Write ``0, 1, 2, 5`` as ``0–2, 5``."""
    parts: list[list[int]] = []
    for seed in sorted({value for value in values if isinstance(value, int)}):
        if parts and seed == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], seed]
        else:
            parts.append([seed])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts) or MISSING
