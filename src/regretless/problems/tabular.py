"""Tables of numbers from CSV and Parquet files, arrays from NPZ files: every error names file, line and column."""

from __future__ import annotations

import csv
import math
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.errors import FileError, InputError
from regretless.optional import need

Floats = NDArray[np.float64]
SUFFIXES = (".csv", ".parquet", ".npz")
# These say which row belongs to what, so they may be words; every other column is a number.
KEYS = ("instance", "variable")


@dataclass(frozen=True, eq=False)
class Table:
    """A file's rows.

    Attributes:
        path: of the file, for messages.
        names: of the numeric columns.
        values: ``(rows, columns)`` finite numbers.
        keys: the columns ``instance`` and ``variable`` as text, where the file has them.
        lines: where each row stands in the file, for messages.
    """

    path: Path
    names: tuple[str, ...]
    values: Floats
    keys: dict[str, tuple[str, ...]]
    lines: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)


def suffix_of(path: Path | str) -> str:
    """Return ``.csv``, ``.parquet`` or ``.npz``; any other ending is an error that names the three."""
    ending = Path(path).suffix.lower()
    if ending not in SUFFIXES:
        raise InputError(f"{path}: a file of data must end in {', '.join(SUFFIXES)}")
    return ending


def read_table(path: Path | str, *, keys: Sequence[str] = KEYS) -> Table:
    """Read a CSV file (UTF-8, commas, a header) or a Parquet file.

    Args:
        path: of the file.
        keys: columns that are kept as text.

    Raises:
        FileError: the file is missing or cannot be read.
        InputError: a row has too few or too many cells, or a cell is empty, no number or not finite.
    """
    path = Path(path)
    _refuse_missing(path)
    return _parquet(path, keys) if suffix_of(path) == ".parquet" else _csv(path, keys)


def read_arrays(path: Path | str) -> dict[str, NDArray[Any]]:
    """Read all arrays of an NPZ file; pickled objects are refused.

    Raises:
        FileError: the file is missing, damaged, or holds Python objects.
    """
    path = Path(path)
    _refuse_missing(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, AttributeError, KeyError, NotImplementedError, zipfile.BadZipFile) as error:
        raise FileError(f"{path} cannot be read as NPZ without pickle: {error}") from error


def finite(path: Path, what: str, array: NDArray[Any]) -> Floats:
    """Return an array of an NPZ file as numbers; the first cell that is none is an error that says where it is."""
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path}: the array {what!r} must hold numbers, got {array.dtype}")
    values = array.astype(np.float64)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        place = tuple(int(i) for i in bad[0])
        raise InputError(f"{path}: the array {what!r} must be finite, got {values[place]} at {list(place)}")
    return values


def _refuse_missing(path: Path) -> None:
    if not path.is_file():
        raise FileError(f"there is no file {path}")


def _csv(path: Path, keys: Sequence[str]) -> Table:
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


def _parquet(path: Path, keys: Sequence[str]) -> Table:
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
