"""The cells of a file or a data frame, by column, before anything is made of them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from regretless.errors import InputError
from regretless.listing import first_repeated, listed, meant
from regretless.tables.row_names import is_local_time, row_key, row_names
from regretless.tables.table import other_columns
from regretless.tables.whole_columns import number_cells


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows of cells.

    Attributes:
        source: the file, for messages.
        columns: cells by column: text, numbers, booleans, dates, or ``None`` where a cell is empty.
        lines: position of each row in the file, for messages.
        header: position of the names of the columns, for messages.
        decimal_commas: whether numbers may have decimal commas: in files whose cells commas do not separate.
    """

    source: str
    columns: dict[str, list[Any]]
    lines: tuple[str, ...]
    header: str = ""
    decimal_commas: bool = False

    def __len__(self) -> int:
        return len(self.lines)

    def error(self, said: str, *, row: int | None = None, column: str | None = None) -> InputError:
        """An error that names file, line and column."""
        where = [self.source, self.header if row is None else self.lines[row]]
        where.append("" if column is None else f"column {column!r}")
        return InputError(f"{', '.join(part for part in where if part)}: {said}")

    def rows(self, positions: Sequence[int]) -> Cells:
        """Some of the rows."""
        columns = {name: [cells[i] for i in positions] for name, cells in self.columns.items()}
        return replace(self, columns=columns, lines=tuple(self.lines[i] for i in positions))

    def without(self, names: Sequence[str]) -> Cells:
        """All columns but some."""
        return replace(self, columns={name: cells for name, cells in self.columns.items() if name not in names})

    def key(self, name: str) -> tuple[str, ...] | None:
        """The cells of a column as names, none of them empty; ``None`` if there is no such column."""
        if name not in self.columns:
            return None
        cells = self.columns[name]
        if None in cells:
            raise self.error(
                "the cell is empty: every row needs a name, so write it or leave the row out",
                row=cells.index(None),
                column=name,
            )
        return row_names([_text(cell) for cell in cells])

    def refuse_unnamed(self, id: str) -> None:
        """Refuse a table without the column that names the rows, where the user chose that column."""
        if id != "instance" and id not in self.columns:
            near = self.instead(id) or f"; there are {listed(list(self.columns))}"
            raise self.error(
                f"there is no column {id!r}, which names the rows{near}: "
                "add it, rename the one that names them, or train without --id"
            )

    def instead(self, name: str) -> str:
        """Which column is probably meant by a name that no column has, in brackets; empty where none is."""
        return meant(name, self.columns)

    def unique_key(self, name: str) -> tuple[str, ...] | None:
        """The cells of a column that names the rows; a name that occurs twice is an error."""
        names = self.key(name)
        first: dict[str, int] = {}
        for i, value in enumerate(names or ()):
            key = row_key(value)
            if key in first:
                there = self.lines[first[key]]
                offset = ", or write times with an offset, as in +01:00" if is_local_time(value) else ""
                raise self.error(
                    f"{value!r} occurs twice, first in {there}: remove one of the rows{offset}", row=i, column=name
                )
            first[key] = i
        return names


def frame_cells(frame: Any, name: str = "features") -> Cells:
    """The cells of a data frame of pandas, polars or the like."""
    if not hasattr(frame, "__len__"):  # polars' LazyFrame
        raise InputError(f"{name} must be a data frame in memory, got {type(frame).__name__}: call its method collect")
    names = [str(column) for column in frame.columns]
    twice = first_repeated(names)
    if twice is not None:
        raise InputError(f"{name} has two columns called {twice!r}")
    columns = {str(column): _column(frame[column]) for column in frame.columns}
    cells = Cells(name, columns, tuple(f"row {i}" for i in range(len(frame))))
    if not cells.lines:
        raise InputError(f"{name} has no rows: a table needs at least one")
    return cells


def row_cells(rows: Sequence[Mapping[str, Any]], name: str) -> Cells:
    """The cells of rows, each by column."""
    for i, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            other = sorted(map(str, row.keys() ^ rows[0].keys()))[0]
            raise InputError(
                f"{name}: all rows must have the same columns, but only one of row 0 and row {i} has {other!r}"
            )
    columns = {str(column): [plain_cell(row[column]) for row in rows] for column in rows[0]}
    return Cells(name, columns, ("",) if len(rows) == 1 else tuple(f"row {i}" for i in range(len(rows))))


def missing_and_extra(cells: Cells, wanted: Sequence[str], what: str, remedy: str = "") -> None:
    """Refuse a table whose columns are not the wanted ones, in any order; ``remedy`` ends the message."""
    if said := other_columns(list(cells.columns), wanted, what):
        raise cells.error(f"{said}; {remedy}" if remedy else said)


def number(cell: Any) -> float | None:
    """The number in a cell; ``None`` if there is none. Booleans are 0 and 1."""
    if isinstance(cell, str):
        try:
            return None if "_" in cell else float(cell)  # Python reads 2024_01 as 202401
        except ValueError:
            return None
    return float(cell) if isinstance(cell, numbers.Real | Decimal) else None


def _column(values: Any) -> list[Any]:
    """The cells of a column of a data frame."""
    quick = number_cells(values.to_numpy()) if hasattr(values, "to_numpy") else None
    return [plain_cell(value) for value in values] if quick is None else quick


def plain_cell(value: Any) -> Any:
    """A cell, with ``None`` for every way to say that it is empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return value.strip() or None
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:  # a scalar of NumPy
        value = value.item()
    # what stands for "not a number", "not a time" or "not available" is not equal to itself
    return value if (value == value) is True else None


def row_name(cell: Any) -> str:
    """The name of a row that a cell of any kind gives, as in a table: ``2024-01-31`` for that day, ``7`` for 7.0."""
    cell = plain_cell(cell)
    if cell is None:
        raise InputError("an instance needs a name, got an empty one")
    return row_names([_text(cell)])[0]


def _text(cell: Any) -> str:
    """A cell as text; a number without a fraction as an integer, as it is written in a CSV file."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
