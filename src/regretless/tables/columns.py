"""Order columns by name, and refuse duplicate names of rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.tables.table import Table

SHOWN = 5


def ordered(path: Path, have: Sequence[str], values: Floats, wanted: Sequence[str], what: str) -> Floats:
    """Return the columns in the given order; the error for missing and unknown columns names them.

    Args:
        path: the file, for messages.
        have: names of the columns.
        values: ``(..., columns)``.
        wanted: names in the order to return.
        what: what a column is, for messages.
    """
    missing = [name for name in wanted if name not in set(have)]
    extra = [name for name in have if name not in set(wanted)]
    if missing or extra:
        parts = [f"missing: {listed(missing)}" if missing else "", f"unknown: {listed(extra)}" if extra else ""]
        raise InputError(
            f"{path}: expected {len(wanted)} {what} columns ({listed(wanted)}), got {len(have)}; "
            + "; ".join(part for part in parts if part)
        )
    place = {name: i for i, name in enumerate(have)}
    return np.ascontiguousarray(values[..., [place[name] for name in wanted]])


def listed(names: Sequence[str]) -> str:
    """Join the first few of many names."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def refuse_twice(table: Table, instance: tuple[str, ...] | None) -> None:
    """Raise ``InputError`` if two rows have the same name."""
    seen: set[str] = set()
    for i, name in enumerate(instance or ()):
        if name in seen:
            raise InputError(f"{table.path}, {table.lines[i]}, column 'instance': {name!r} occurs twice")
        seen.add(name)
