"""The names of rows: a day has one name, whichever kind of file it comes from, and one key, however it is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

# A day as 2024-01-31 or 31.1.2024, perhaps with a time and an offset.
POINT = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d)|(\d{1,2})\.(\d{1,2})\.(\d{4}))"
    r"(?:[ T]+(\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:?\d\d)?)?"
)
# A number that some programs write with a point and zeros: pandas where a column had gaps.
WHOLE = re.compile(r"(0|-?[1-9]\d*)(?:\.0*)?")
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


def is_local_time(name: str) -> bool:
    """Whether a name is a time without an offset, which occurs twice where clocks are set back.

    >>> is_local_time("2023-10-29 02:00"), is_local_time("2023-10-29 02:00+01:00"), is_local_time("2023-10-29")
    (True, False, False)
    """
    found = POINT.fullmatch(name)
    return found is not None and found[7] is not None and found[10] is None


def row_key(name: str) -> str:
    """A name to compare with those of other tables: the same day or time has one key, however it is written.

    Times with an offset are compared as points in time, and ``7.0`` is ``7``.

    >>> row_key("31.1.2024"), row_key("2024-01-31T00:00:00"), row_key("31.01.2024 12:30"), row_key("monday")
    ('2024-01-31', '2024-01-31', '2024-01-31 12:30:00', 'monday')
    >>> row_key("2024-01-31 12:30+01:00") == row_key("2024-01-31T11:30:00Z")
    True
    """
    found = POINT.fullmatch(name)
    if found is None:
        whole = WHOLE.fullmatch(name)
        return name if whole is None else whole[1]
    year, month, day, dotted_day, dotted_month, dotted_year, minutes, seconds, fraction, offset = found.groups("")
    date = f"{year or dotted_year}-{month or dotted_month.zfill(2)}-{day or dotted_day.zfill(2)}"
    fraction = fraction.rstrip("0")
    time = f"{minutes or '00:00'}:{seconds or '00'}{'.' if fraction else ''}{fraction}"
    if not offset:
        return date if time == "00:00:00" else f"{date} {time}"
    try:
        return str(datetime.fromisoformat(f"{date} {time}{offset}").astimezone(UTC))
    except (ValueError, OverflowError):  # no such time
        return name
