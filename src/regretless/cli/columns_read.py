"""One line on how training read the columns of the features."""

from __future__ import annotations

from pathlib import Path

from regretless.listing import listed
from regretless.tables.encoded_column import Column
from regretless.tables.saved_problem import has_saved_problem, load_saved_problem

PLURAL = {"category": "categories"}


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
