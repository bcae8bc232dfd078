"""CSV files: every error names file, line and column."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from regretless.errors import FileError, InputError
from regretless.tables.table import KEYS, Table, refuse_missing


def read_csv(path: Path, keys: Sequence[str] = KEYS) -> Table:
    """Read a CSV file: UTF-8, commas, a header.

    Args:
        path: of the file.
        keys: columns that are kept as text.

    Raises:
        FileError: the file is missing or cannot be read.
        InputError: a row has too few or too many cells, or a cell is empty, no number or not finite.
    """
    refuse_missing(path)
    rows: list[list[float]] = []
    lines: list[str] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = [name.strip() for name in next(reader, [])]
            _check_header(path, header)
            words: dict[int, list[str]] = {i: [] for i, name in enumerate(header) if name in keys}
            for cells in reader:
                if not cells:
                    continue
                if len(cells) != len(header):
                    where = f"{path}, line {reader.line_num}"
                    raise InputError(f"{where}: expected {len(header)} cells as in the header, got {len(cells)}")
                for i, column in words.items():
                    column.append(_word(path, reader.line_num, header[i], cells[i]))
                rows.append(
                    [_number(path, reader.line_num, header[i], c) for i, c in enumerate(cells) if i not in words]
                )
                lines.append(f"line {reader.line_num}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path} cannot be read as CSV in UTF-8: {error}") from error
    if not rows:
        raise InputError(f"{path} has a header and no rows")
    names = tuple(name for i, name in enumerate(header) if i not in words)
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    return Table(path, names, values, {header[i]: tuple(column) for i, column in words.items()}, tuple(lines))


def _check_header(path: Path, header: list[str]) -> None:
    if not header:
        raise InputError(f"{path} is empty: its first line must name the columns")
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        raise InputError(f"{path}, line 1: cells must have commas between them, got {header[0][:40]!r}")
    for i, name in enumerate(header):
        if not name:
            raise InputError(f"{path}, line 1: column {i + 1} has no name")
        if header.index(name) < i:
            raise InputError(f"{path}, line 1: two columns are called {name!r}")
    if all(_is_number(name) for name in header):
        raise InputError(f"{path}, line 1: the first line must name the columns, got numbers ({header[0]}, ...)")


def _word(path: Path, line: int, column: str, cell: str) -> str:
    if not cell.strip():
        raise InputError(f"{path}, line {line}, column {column!r}: the cell is empty")
    return cell.strip()


def _number(path: Path, line: int, column: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        said = "the cell is empty" if not cell.strip() else f"expected a number, got {cell.strip()[:40]!r}"
        raise InputError(f"{path}, line {line}, column {column!r}: {said}") from None
    if not math.isfinite(value):
        raise InputError(f"{path}, line {line}, column {column!r}: expected a finite number, got {cell.strip()}")
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
