"""How figures are printed: tables for people, JSON for programs, warnings on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regretless.listing import listed
from regretless.number_text import number_text
from regretless.runs import Spec
from regretless.runs.results import INEXACT
from regretless.runs.run_ledger import Ledger, ledger_line
from regretless.runs.spec_check import engine_of
from regretless.storage import strict
from regretless.tables.encoded_column import Column
from regretless.tables.saved_problem import has_saved_problem, load_saved_problem

WIDEST = 100_000
# Figures whose names alone do not say what they are.
NAMES = {
    "mse": "mean squared error",
    "epoch_seconds": "seconds per epoch",
    "lookups": "look-ups",
    "two_stage_regret": "two-stage regret",
    "gain": "gain over two-stage",
    "gain_low": "its 95 % interval, from",
    "gain_high": "its 95 % interval, to",
    "compared_days": "days compared with two-stage",
}
PLURAL = {"category": "categories"}


def figure_name(name: str) -> str:
    """The name of a figure in words.

    >>> figure_name("relative_regret"), figure_name("mse")
    ('relative regret', 'mean squared error')
    """
    return NAMES.get(name, name.replace("_", " "))


def print_json(value: Any) -> None:
    """Print plain data as strict JSON: NaN and infinity become null."""
    print(json.dumps(strict(value), indent=2, allow_nan=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table with numbers on the right, as wide as the terminal; without one nothing limits its width."""
    table = Table()
    numeric = [all(not isinstance(row[i], str) for row in rows) for i in range(len(columns))]
    cells = [[number(cell) for cell in row] for row in rows]
    for i, (name, right) in enumerate(zip(columns, numeric, strict=True)):
        # On a narrow terminal headings and long texts wrap, figures and names do not.
        longest = max((len(row[i]) for row in cells), default=0)
        table.add_column(name, justify="right" if right else "left", min_width=min(longest, 40), overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))  # as text: a name such as x[0] is no markup
    print(title)  # not as the table's own title, which a narrow table would wrap
    console = Console()
    console = console if console.is_terminal else Console(width=WIDEST)
    console.print(table, crop=False)  # a terminal wraps a table that it has no room for: nothing is lost


def number(value: Any) -> str:
    """Write a cell of a table: numbers as in all sentences; ``-`` for none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return number_text(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def print_ledger(solves: Ledger | None) -> None:
    """Print how many exact solves were made for what; runs of older versions have no ledger."""
    if solves:
        print(ledger_line(solves))


def warn_of_inexact(figures: Mapping[str, Any]) -> None:
    """Say on standard error which solves behind the figures are not exact."""
    for name, meaning in INEXACT.items():
        if count := figures.get(name):
            print(f"warning: {count} {meaning}", file=sys.stderr)


def warn_of_idle_workers(spec: Spec, workers: int | None, executor: str = "threads") -> None:
    """Say on standard error that workers do not help where the problem's own oracle solves."""
    several = workers is not None and workers > 1
    if (several or executor != "threads") and engine_of(spec) == "oracle":
        what = "--workers" if several else "--executor"
        print(f"note: {what} has no effect: the oracle of {spec.problem} solves in one thread", file=sys.stderr)


def columns_read(run: Path) -> str | None:
    """How the columns of the features were read; ``None`` for named problems and arrays, which have none."""
    encoding = load_saved_problem(run).encoding if has_saved_problem(run) else None
    if encoding is None:
        return None
    return columns_line(encoding.columns) + (f"; ignored: {listed(encoding.ignore)}" if encoding.ignore else "")


def columns_line(columns: tuple[Column, ...]) -> str:
    """Kinds of columns with their numbers and names.

    >>> columns_line((Column("wind", "number"), Column("day", "date"), Column("load", "number")))
    'features: 2 numbers (wind, load), 1 date (day)'
    """
    names: dict[str, list[str]] = {}
    for column in columns:
        names.setdefault(column.kind, []).append(column.name)
    parts = [
        f"{len(some)} {kind if len(some) == 1 else PLURAL.get(kind, f'{kind}s')} ({listed(some)})"
        for kind, some in names.items()
    ]
    return f"features: {', '.join(parts)}"
