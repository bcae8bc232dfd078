"""Which files and which columns a table may have; every error names the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from regretless.errors import InputError
from regretless.listing import listed, missing_and_unknown, probable
from regretless.milp import Floats

WRITTEN = (".csv", ".parquet", ".npz")
SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
READ = (".csv", *SPREADSHEETS, ".parquet", ".npz")
# Other files in which tables are kept, and what to do.
_TEXT = "; the name of a table with semicolons or tabs must end in .csv, too"
_HINTS = {".txt": _TEXT, ".tsv": _TEXT}
_HINTS_WRITTEN = dict.fromkeys(SPREADSHEETS, "; spreadsheets open .csv files")


def suffix_of(path: Path | str) -> str:
    """Return one of ``READ``, in lower case; any other suffix is an error that names them."""
    return _one_of(READ, path, _HINTS)


def suffix_to_write(path: Path | str) -> str:
    """Return one of ``WRITTEN``, in lower case; any other suffix is an error that names them."""
    return _one_of(WRITTEN, path, _HINTS_WRITTEN)


def _one_of(suffixes: Sequence[str], path: Path | str, hints: dict[str, str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        raise InputError(f"{path}: a data file must end in {', '.join(suffixes)}{hints.get(suffix, '')}")
    return suffix


def other_columns(have: Sequence[str], wanted: Sequence[str], what: str) -> str:
    """How columns differ from the wanted ones, for messages; empty where they do not, but for their order."""
    missing, extra = missing_and_unknown(have, wanted)
    parts = [f"missing: {listed(missing)}" if missing else "", f"unknown: {listed(extra)}" if extra else ""]
    parts.append(probable(have, wanted))
    said = f"expected {len(wanted)} {what} columns ({listed(wanted)}), got {len(have)}; "
    return said + "; ".join(filter(None, parts)) if any(parts) else ""


def ordered(path: Path | str, have: Sequence[str], values: Floats, wanted: Sequence[str], what: str) -> Floats:
    """Return the columns in the given order; the error for missing and unknown columns names them.

    Args:
        path: the file, for messages.
        have: names of the columns.
        values: ``(..., columns)``.
        wanted: names in the order to return.
        what: what a column is, for messages.
    """
    if said := other_columns(have, wanted, what):
        raise InputError(f"{path}: {said}")
    place = {name: i for i, name in enumerate(have)}
    return np.ascontiguousarray(values[..., [place[name] for name in wanted]])
