"""The cells of a Parquet file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from regretless.errors import FileError, InputError
from regretless.optional import need
from regretless.tables.cells import Cells, plain_cell
from regretless.tables.whole_columns import number_cells

# How pandas calls an index without a name.
INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(path: Path) -> Cells:
    """Read a Parquet file.

    Raises:
        FileError: the file cannot be read as Parquet.
        InputError: two columns have one name, or a column is an index without a name.
        MissingDependencyError: pyarrow is not installed.
    """
    parquet = need("pyarrow.parquet", pip="pyarrow", why="read Parquet files")
    try:
        read = parquet.read_table(path)
        columns = {str(name): _column(read.column(i)) for i, name in enumerate(read.column_names)}
    except (OSError, ValueError, NotImplementedError) as error:  # pyarrow's errors derive from these
        raise FileError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from error
    if len(columns) < len(read.column_names):
        raise InputError(f"{path} has two columns with the same name")
    index = next(filter(INDEX.fullmatch, columns), None)
    if index is not None:
        raise InputError(
            f"{path}: the column {index!r} is the index of a pandas data frame, which has no name: leave it out with "
            "to_parquet(index=False), or name it"
        )
    return Cells(str(path), columns, tuple(f"row {i}" for i in range(1, read.num_rows + 1)))


def _column(values: Any) -> list[Any]:
    """The cells of a column of a Parquet file."""
    # With gaps, integers would become floats, and be written differently where they are names.
    of_numbers = str(values.type).startswith(("int", "uint", "float", "double")) and not values.null_count
    quick = number_cells(values.to_numpy()) if of_numbers else None
    return [plain_cell(value) for value in values.to_pylist()] if quick is None else quick
