"""How it was done: what was asked for, with which versions, on which machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from regretless.report.collected import Run
from regretless.report.grid import Cell, Column, grid
from regretless.report.groups import Section, describe, percent
from regretless.report.markup import Markup, tag
from regretless.report.numbers import MISSING, number, show
from regretless.training import methods

FIELDS = ("epochs", "lr", "batch_size", "init", "patience")


def protocol(sections: Iterable[Section]) -> Markup:
    """A row a group: what its specification says, with the defaults of the method filled in."""
    columns = [Column("method", numeric=False), Column("problem", numeric=False), Column("seeds", numeric=False)]
    columns += [Column("epochs"), Column("learning rate"), Column("batch size"), Column("first weights", numeric=False)]
    columns += [Column("patience"), Column("p_solve"), Column("settings", numeric=False)]
    rows = []
    for section in sections:
        for group in section.groups:
            spec = group.runs[0].spec
            cells = [Cell(group.method), Cell(section.label), Cell(_ranges(run.spec.get("seed") for run in group.runs))]
            cells += [_field(name, spec.get(name), group.method) for name in FIELDS]
            cells += [Cell(percent(group.p_solve), group.p_solve), Cell(describe(_settings(group.runs[0])) or MISSING)]
            rows.append(cells)
    return grid("Specification of every group of runs", columns, rows, hide_caption=True)


def environment(runs: Iterable[Run]) -> Markup:
    """Versions and machine; where runs differ, how many had which."""
    found: dict[str, Counter[str]] = {}
    for run in runs:
        for key, value in run.environment.items():
            found.setdefault(key, Counter())[value] += 1
    if not found:
        return tag("p", "No environment was kept with these runs.", class_="note")
    items = []
    for key in sorted(found):
        values = [v if len(found[key]) == 1 else f"{v} ({n} runs)" for v, n in sorted(found[key].items())]
        items.append(tag("div", tag("dt", key), tag("dd", ", ".join(values))))
    return tag("dl", *items, class_="facts")


def _field(name: str, value: Any, method: str) -> Cell:
    if name == "batch_size" and value is None:
        value = methods.TABLE[method].batch_size if method in methods.TABLE else None
        return Cell("the problem’s own") if value is None else Cell(str(value), float(value))
    if name == "patience" and not value:
        return Cell("none")
    size = number(value)
    if size is not None and not isinstance(value, str):
        return Cell(f"{value:,}" if isinstance(value, int) else show(size, digits=3).rstrip("0"), size)
    return Cell(MISSING if value is None else str(value))


def _settings(run: Run) -> dict[str, Any]:
    own = run.spec.get("settings")
    default = methods.TABLE[run.method].options if run.method in methods.TABLE else {}
    options = run.spec.get("options")
    engine = {"engine": options["engine"]} if isinstance(options, Mapping) and "engine" in options else {}
    settings = dict(default) | (dict(own) if isinstance(own, Mapping) else {}) | engine
    return {key: value for key, value in settings.items() if key != "p_solve"}


def _ranges(values: Iterable[Any]) -> str:
    """Write ``0, 1, 2, 5`` as ``0-2, 5``."""
    seeds = sorted({value for value in values if isinstance(value, int)})
    if not seeds:
        return MISSING
    parts: list[list[int]] = []
    for seed in seeds:
        if parts and seed == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], seed]
        else:
            parts.append([seed])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)
