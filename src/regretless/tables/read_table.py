"""Read a table, of whichever kind it is: its cells, without columns to ignore, and as numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.listing import listed, meant
from regretless.milp import Floats
from regretless.missing_file import refuse_missing
from regretless.tables.cells import Cells, frame_cells, number
from regretless.tables.csv_file import read_csv
from regretless.tables.decimal_marks import with_points
from regretless.tables.foreign_numbers import number_remedy
from regretless.tables.parquet_file import read_parquet
from regretless.tables.spreadsheet import read_sheet
from regretless.tables.table import suffix_of
from regretless.tables.whole_columns import plain_numbers

# All other kinds are spreadsheets.
READERS = {".csv": read_csv, ".parquet": read_parquet}


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a file.

    Attributes:
        cells: from which they were read, for messages.
        names: names of the numeric columns.
        values: ``(rows, columns)`` finite numbers.
        instances: names of the rows, if the file has them.
    """

    cells: Cells
    names: tuple[str, ...]
    values: Floats
    instances: tuple[str, ...] | None


def read_table(path: Any, *, id: str | None = "instance", check: Callable[[Cells], None] | None = None) -> Table:
    """Read a table in which every column holds numbers, except for one that names the rows.

    Args:
        path: the file, a data frame of true costs, or cells that were read before.
        id: column that names the rows. A table may lack the default one, no other. ``None``: all columns are numbers.
        check: raises for wrong columns, of all but ``id``. It comes before the cells: in a column that does not belong
            there they need no correction.

    Raises:
        FileError, InputError, MissingDependencyError: as ``read_cells``; and for a cell that is empty or no finite
            number, a name that occurs twice, or a column ``id`` of the user's choice that is not there.
    """
    cells = read_cells(path)
    if id is not None:
        cells.refuse_unnamed(id)
    if check is not None:
        check(cells.without([] if id is None else [id]))
    return numeric_table(cells, id=id)


def numeric_table(cells: Cells, *, id: str | None = "instance") -> Table:
    """Check that all cells are finite numbers, except for those of the column ``id``."""
    names = tuple(name for name in cells.columns if name != id)
    cells = with_points(cells, names, showing={",", "."})
    values = np.empty((len(cells), len(names)))
    for k, name in enumerate(names):
        plain = plain_numbers(cells.columns[name])
        if plain is not None:
            values[:, k] = plain
            continue
        for i, cell in enumerate(cells.columns[name]):
            value = number(cell)
            if cell is None or value is None or not math.isfinite(value):
                said = f"expected a finite number, got {str(cell)[:40]!r}: {number_remedy(cell)}"
                raise cells.error(
                    "the cell is empty: fill it, or leave the instance out" if cell is None else said,
                    row=i,
                    column=name,
                )
            values[i, k] = value
    instances = None if id is None else cells.unique_key(id)
    return Table(cells, names, values, instances)


def is_arrays(table: Any) -> bool:
    """Whether a table, which may be a file, is an NPZ file: its arrays have no columns with names."""
    return not hasattr(table, "columns") and suffix_of(table) == ".npz"


def read_cells(table: Any) -> Cells:
    """The cells of a CSV file, a spreadsheet, a Parquet file or a data frame of true costs; cells stay as they are.

    Raises:
        FileError: the file is missing or cannot be read.
        InputError: there are no rows, or a row has too few or too many cells.
        MissingDependencyError: the package that reads such a file is not installed.
    """
    if hasattr(table, "columns"):
        return table if isinstance(table, Cells) else frame_cells(table, "costs")
    path = Path(table)
    if is_arrays(path):
        raise InputError(f"{path}: a table must be a .csv, .xlsx or .parquet file")
    refuse_missing(path)
    cells = READERS.get(suffix_of(path), read_sheet)(path)
    if not cells.lines:
        raise InputError(f"{path} has no rows: write at least one below the names of the columns")
    return cells


def without_ignored(table: Any, ignore: Sequence[str]) -> Any:
    """The cells of a table without the columns to ignore, of which it need not have any.

    The table itself where there is nothing to ignore, for arrays, and for ``None``.
    """
    return table if not ignore or table is None or is_arrays(table) else read_cells(table).without(ignore)


def first_without_ignored(tables: Sequence[Any], ignore: Sequence[str], *, id: str) -> list[Any]:
    """The cells of the tables of training, without the columns to ignore; one of the tables must have each of them.

    Raises:
        FileError, InputError, MissingDependencyError: as ``read_cells``; and no table has the column to ignore, or it
            names the rows.
    """
    if id in ignore and id != "instance":
        raise InputError(f"--id and --ignore both name the column {id!r}: leave one of them out")
    read = [table if table is None or is_arrays(table) else read_cells(table) for table in tables]
    known = list(dict.fromkeys(name for cells in read if isinstance(cells, Cells) for name in cells.columns))
    for name in ignore:
        if name not in known:
            raise InputError(f"no table has a column {name!r} to ignore{meant(name, known)}; there are {listed(known)}")
    return [without_ignored(table, ignore) for table in read]
