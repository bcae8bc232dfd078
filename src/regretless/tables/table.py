"""A table of numbers, from any kind of file; every error names file, row and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regretless.errors import FileError, InputError
from regretless.listing import listed, missing_and_unknown
from regretless.milp import Floats

SUFFIXES = (".csv", ".parquet", ".npz")
# Other files in which tables are kept, and what to do.
_HINTS = dict.fromkeys((".xlsx", ".xls", ".ods"), "; spreadsheets read and write .csv (in Excel: 'CSV UTF-8')")
_HINTS |= dict.fromkeys((".txt", ".tsv"), "; the name of a table with semicolons or tabs must end in .csv, too")


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a file.

    Attributes:
        path: the file, for messages.
        names: names of the numeric columns.
        values: ``(rows, columns)`` finite numbers.
        instances: names of the rows, if the file has them.
        lines: position of each row in the file, for messages.
        header: position of the names of the columns, for messages.
    """

    path: Path
    names: tuple[str, ...]
    values: Floats
    instances: tuple[str, ...] | None
    lines: tuple[str, ...]
    header: str = ""

    def __len__(self) -> int:
        return len(self.values)


def suffix_of(path: Path | str) -> str:
    """Return ``.csv``, ``.parquet`` or ``.npz``; any other suffix is an error that names the three."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: a data file must end in {', '.join(SUFFIXES)}{_HINTS.get(suffix, '')}")
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
    missing, extra = missing_and_unknown(have, wanted)
    if missing or extra:
        parts = [f"missing: {listed(missing)}" if missing else "", f"unknown: {listed(extra)}" if extra else ""]
        raise InputError(
            f"{path}: expected {len(wanted)} {what} columns ({listed(wanted)}), got {len(have)}; "
            + "; ".join(part for part in parts if part)
        )
    place = {name: i for i, name in enumerate(have)}
    return np.ascontiguousarray(values[..., [place[name] for name in wanted]])
