"""Parquet files: every error names file, row and column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from regretless.errors import FileError, InputError
from regretless.optional import need
from regretless.tables.table import KEYS, Table, refuse_missing


def read_parquet(path: Path, keys: Sequence[str] = KEYS) -> Table:
    """Read a Parquet file.

    Args:
        path: of the file.
        keys: columns that are kept as text.

    Raises:
        FileError: the file is missing or cannot be read.
        InputError: a cell is empty, no number or not finite.
        MissingDependencyError: pyarrow is not installed.
    """
    refuse_missing(path)
    parquet = need("pyarrow.parquet", pip="pyarrow", why="read Parquet files")
    try:
        read = parquet.read_table(path)
        columns = {str(name): read.column(i).to_pylist() for i, name in enumerate(read.column_names)}
    except (OSError, ValueError) as error:  # pyarrow's own errors are one or the other
        raise FileError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from error
    if len(columns) < len(read.column_names):
        raise InputError(f"{path} has two columns of one name")
    if not columns or not read.num_rows:
        raise InputError(f"{path} has no rows")
    words = {name: tuple(_text(path, i, name, cell) for i, cell in enumerate(columns[name], 1))
             for name in keys if name in columns}  # fmt: skip
    names = tuple(name for name in columns if name not in words)
    values = [[_cell(path, i, name, cell) for i, cell in enumerate(columns[name], 1)] for name in names]
    array = np.array(values, dtype=np.float64).reshape(len(names), read.num_rows).T
    return Table(path, names, array, words, tuple(f"row {i}" for i in range(1, read.num_rows + 1)))


def _text(path: Path, row: int, column: str, cell: Any) -> str:
    if cell is None:
        raise InputError(f"{path}, row {row}, column {column!r}: the cell is empty")
    return str(cell)


def _cell(path: Path, row: int, column: str, cell: Any) -> float:
    if isinstance(cell, bool | int | float) and math.isfinite(cell):
        return float(cell)
    said = "the cell is empty" if cell is None else f"expected a finite number, got {str(cell)[:40]!r}"
    raise InputError(f"{path}, row {row}, column {column!r}: {said}")
