"""How figures are printed: tables for people, JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_json(value: Any) -> None:
    """Print plain data as strict JSON: what is not a number becomes null."""
    print(json.dumps(_strict(value), indent=2))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table; numbers to the right."""
    table = Table()
    numeric = [all(not isinstance(row[i], str) for row in rows) for i in range(len(columns))]
    cells = [[number(cell) for cell in row] for row in rows]
    for i, (name, right) in enumerate(zip(columns, numeric, strict=True)):
        # Headings may wrap on a narrow terminal, figures and names may not.
        longest = max((len(row[i]) for row in cells), default=0)
        table.add_column(name, justify="right" if right else "left", min_width=min(longest, 40), overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))  # as text: a name such as x[0] is no markup
    print(title)  # above the table and not in it, where a narrow table would break it into pieces
    Console().print(table)


def number(value: Any) -> str:
    """Write a number the way a person would read it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, float):
        size = abs(value)
        return f"{value:.0f}" if size >= 1e4 else f"{value:.1f}" if size >= 100 else f"{value:.4g}"
    return str(value)


def _strict(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    return value
