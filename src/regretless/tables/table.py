"""A table of numbers, from any kind of file; every error names file, row and column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regretless.errors import FileError, InputError
from regretless.milp import Floats

SUFFIXES = (".csv", ".parquet", ".npz")
# These columns identify a row and may hold text; every other column holds numbers.
KEYS = ("instance", "variable")
SHOWN = 5


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a file.

    Attributes:
        path: the file, for messages.
        names: names of the numeric columns.
        values: ``(rows, columns)`` finite numbers.
        keys: the columns ``instance`` and ``variable`` as text, if the file has them.
        lines: position of each row in the file, for messages.
    """

    path: Path
    names: tuple[str, ...]
    values: Floats
    keys: dict[str, tuple[str, ...]]
    lines: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def instances(self) -> tuple[str, ...] | None:
        """The names of the rows, if the file has them; a name that occurs twice is an error."""
        names = self.keys.get("instance")
        if names is not None and len(set(names)) < len(names):
            i = next(i for i, name in enumerate(names) if name in names[:i])
            raise InputError(f"{self.path}, {self.lines[i]}, column 'instance': {names[i]!r} occurs twice")
        return names


def make_table(path: Path, columns: Mapping[str, Sequence[Any]], keys: Sequence[str], lines: Sequence[str]) -> Table:
    """Check all cells and build a table.

    Args:
        path: the file, for messages.
        columns: cells by column; ``None`` is an empty cell.
        keys: columns to read as text.
        lines: position of each row in the file, for messages.

    Raises:
        InputError: there are no rows, or a cell is empty, not a number or not finite.
    """
    if not lines:
        raise InputError(f"{path} has no rows")
    for name, cells in columns.items():
        numeric = name not in keys
        for line, cell in zip(lines, cells, strict=True):
            if cell is None or (numeric and not (isinstance(cell, bool | int | float) and math.isfinite(cell))):
                said = "the cell is empty" if cell is None else f"expected a finite number, got {repr(cell)[:40]}"
                raise InputError(f"{path}, {line}, column {name!r}: {said}")
    names = tuple(name for name in columns if name not in keys)
    values = np.array([columns[name] for name in names], dtype=np.float64).reshape(len(names), len(lines)).T
    text = {key: tuple(map(str, columns[key])) for key in keys if key in columns}
    return Table(path, names, values, text, tuple(lines))


def suffix_of(path: Path | str) -> str:
    """Return ``.csv``, ``.parquet`` or ``.npz``; any other suffix is an error that names the three."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: a data file must end in {', '.join(SUFFIXES)}")
    return suffix


def refuse_missing(path: Path) -> None:
    """Raise ``FileError`` if there is no such file."""
    if not path.is_file():
        raise FileError(f"there is no file {path}")


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
