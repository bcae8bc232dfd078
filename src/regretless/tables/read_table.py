"""Read a table from a CSV or a Parquet file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from regretless.errors import FileError, InputError
from regretless.optional import need
from regretless.tables.table import KEYS, Table, make_table, refuse_missing, suffix_of


def read_table(path: Path | str, *, keys: Sequence[str] = KEYS) -> Table:
    """Read a CSV file (UTF-8, commas, a header) or a Parquet file.

    Args:
        path: the file.
        keys: columns to read as text.

    Raises:
        FileError: the file is missing or cannot be read.
        InputError: a row has too few or too many cells, or a cell is empty, not a number or not finite.
        MissingDependencyError: pyarrow is not installed and the file is a Parquet file.
    """
    path = Path(path)
    parquet = suffix_of(path) == ".parquet"
    refuse_missing(path)
    return _read_parquet(path, keys) if parquet else _read_csv(path, keys)


def _read_csv(path: Path, keys: Sequence[str]) -> Table:
    rows: list[list[str]] = []
    lines: list[str] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = [name.strip() for name in next(reader, [])]
            _check_header(path, header)
            for cells in reader:
                if not cells:
                    continue
                lines.append(f"line {reader.line_num}")
                rows.append(cells)
                if len(cells) != len(header):
                    raise InputError(
                        f"{path}, {lines[-1]}: expected {len(header)} cells as in the header, got {len(cells)}"
                    )
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path} cannot be read as CSV in UTF-8: {error}") from error
    columns = {
        name: [cell.strip() or None if name in keys else _parsed(cell) for cell in cells]
        for name, cells in zip(header, zip(*rows, strict=True), strict=False)
    }
    return make_table(path, columns, keys, lines)


def _check_header(path: Path, header: list[str]) -> None:
    if not header:
        raise InputError(f"{path} is empty: its first line must name the columns")
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        raise InputError(f"{path}, line 1: cells must be separated by commas, got {header[0][:40]!r}")
    for i, name in enumerate(header):
        if not name:
            raise InputError(f"{path}, line 1: column {i + 1} has no name")
        if header.index(name) < i:
            raise InputError(f"{path}, line 1: two columns are called {name!r}")
    if all(isinstance(_parsed(name), float) for name in header):
        raise InputError(f"{path}, line 1: the first line must name the columns, got numbers ({header[0]}, ...)")


def _parsed(cell: str) -> float | str | None:
    """A number, or the text of a cell that is not a number, or ``None`` for an empty cell."""
    try:
        return float(cell)
    except ValueError:
        return cell.strip() or None


def _read_parquet(path: Path, keys: Sequence[str]) -> Table:
    parquet = need("pyarrow.parquet", pip="pyarrow", why="read Parquet files")
    try:
        read = parquet.read_table(path)
        columns = {str(name): read.column(i).to_pylist() for i, name in enumerate(read.column_names)}
    except (OSError, ValueError, NotImplementedError) as error:  # pyarrow's errors derive from these
        raise FileError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from error
    if len(columns) < len(read.column_names):
        raise InputError(f"{path} has two columns with the same name")
    return make_table(path, columns, keys, [f"row {i}" for i in range(1, read.num_rows + 1)])
