"""The names of rows: a day has one name, whichever kind of file it comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence

DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T]00:00(?::00(?:\.0+)?)?)?")


def row_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of the rows of a table; where all are midnights, as Parquet files and data frames hold days, the dates.

    >>> row_names(["2024-01-31 00:00:00", "2024-02-01 00:00:00"])
    ('2024-01-31', '2024-02-01')
    >>> row_names(["2024-01-31 00:00:00", "2024-01-31 01:00:00"])
    ('2024-01-31 00:00:00', '2024-01-31 01:00:00')
    """
    days = [DAY.fullmatch(name) for name in names]
    return tuple(day[1] if day else name for day, name in zip(days, names, strict=True)) if all(days) else tuple(names)


def row_key(name: str) -> str:
    """A name to compare with those of other tables: a midnight is its date, whatever the other rows are."""
    return row_names((name,))[0]
