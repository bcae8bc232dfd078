"""Read a table of numbers from a CSV or a Parquet file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from regretless.milp import Floats
from regretless.tables.cells import Cells, frame_cells, number
from regretless.tables.decimal_marks import with_points
from regretless.tables.foreign_numbers import number_remedy
from regretless.tables.read_cells import read_cells
from regretless.tables.whole_columns import plain_numbers


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
    cells = read_or_take(path)
    if id is not None:
        cells.refuse_unnamed(id)
    if check is not None:
        check(cells.without([] if id is None else [id]))
    return numeric_table(cells, id=id)


def read_or_take(path: Any) -> Cells:
    """The cells of a file, or of a data frame of true costs; cells that were read before."""
    if isinstance(path, Cells):
        return path
    return frame_cells(path, "costs") if hasattr(path, "columns") else read_cells(path)


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
