"""A table from a CSV or a Parquet file, by its ending."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regretless.tables.csv_file import read_csv
from regretless.tables.parquet_file import read_parquet
from regretless.tables.table import KEYS, Table, suffix_of


def read_table(path: Path | str, *, keys: Sequence[str] = KEYS) -> Table:
    """Read a table; columns called ``keys`` are kept as text."""
    path = Path(path)
    return read_parquet(path, keys) if suffix_of(path) == ".parquet" else read_csv(path, keys)
