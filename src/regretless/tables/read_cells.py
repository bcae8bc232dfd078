"""Read the cells of a file, of whichever kind it is."""

from __future__ import annotations

from pathlib import Path

from regretless.errors import InputError
from regretless.tables.cells import Cells
from regretless.tables.csv_file import read_csv
from regretless.tables.parquet_file import read_parquet
from regretless.tables.spreadsheet import read_sheet
from regretless.tables.table import refuse_missing, suffix_of

# All other kinds are spreadsheets.
READERS = {".csv": read_csv, ".parquet": read_parquet}


def read_cells(path: Path | str) -> Cells:
    """Read a CSV file, a spreadsheet or a Parquet file.

    Raises:
        FileError: the file is missing or cannot be read.
        InputError: there are no rows, or a row has too few or too many cells.
        MissingDependencyError: the package that reads such a file is not installed.
    """
    path = Path(path)
    suffix = suffix_of(path)
    if suffix == ".npz":
        raise InputError(f"{path}: a table must be a .csv, .xlsx or .parquet file")
    refuse_missing(path)
    cells = READERS.get(suffix, read_sheet)(path)
    if not cells.lines:
        raise InputError(f"{path} has no rows")
    return cells
