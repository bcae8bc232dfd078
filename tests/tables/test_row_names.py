from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.tables.cells import Cells
from regretless.tables.npz_file import strings
from regretless.tables.row_names import row_key, row_names

DAYS = ("2024-01-31", "2024-02-01")


@pytest.mark.parametrize("time", ["", " 00:00", " 00:00:00", "T00:00:00", "T00:00:00.000000000"])
def test_midnights_are_named_by_their_dates(time: str) -> None:
    assert row_names([day + time for day in DAYS]) == DAYS


@pytest.mark.parametrize("other", ["2024-02-01 01:00:00", "2024-02-01 00:00:00+01:00", "monday", "20240201"])
def test_names_stay_where_not_all_are_midnights(other: str) -> None:
    names = ("2024-01-31 00:00:00", other)
    assert row_names(names) == names
    assert row_key(names[0]) == "2024-01-31"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("31.01.2024", "2024-01-31"),
        ("1.2.2024", "2024-02-01"),
        ("31.01.2024 00:00", "2024-01-31"),
        ("31.01.2024 12:30", "2024-01-31 12:30:00"),
        ("2024-01-31T12:30", "2024-01-31 12:30:00"),
        ("2024-01-31T12:30:05.500000000", "2024-01-31 12:30:05.5"),
        ("2024-01-31T12:30Z", "2024-01-31 12:30:00+00:00"),
        ("2024-01-31 00:30:00+0100", "2024-01-30 23:30:00+00:00"),
        ("2024-02-30 12:30:00+01:00", "2024-02-30 12:30:00+01:00"),
        ("0001-01-01 00:00:00+01:00", "0001-01-01 00:00:00+01:00"),
        ("31/01/2024", "31/01/2024"),
        ("20240131-05", "20240131-05"),
        ("1.2.20240", "1.2.20240"),
        ("7.0", "7"),
        ("-12.", "-12"),
        ("007", "007"),
        ("1.10", "1.10"),
    ],
)
def test_a_day_or_time_has_one_key_however_it_is_written(name: str, key: str) -> None:
    assert row_key(name) == key


def test_a_day_that_is_written_in_two_ways_occurs_twice() -> None:
    cells = Cells("x", {"day": ["31.01.2024", "01.02.2024", "2024-01-31"]}, ("line 2", "line 3", "line 4"))
    with pytest.raises(InputError, match="line 4, column 'day': '2024-01-31' occurs twice, first in line 2"):
        cells.unique_key("day")


def test_an_hour_that_occurs_twice_needs_an_offset() -> None:
    hours = ["2023-10-29 02:00", "2023-10-29 02:00"]
    with pytest.raises(InputError, match=r"occurs twice, first in line 2: remove one of the rows, or write times with"):
        Cells("x", {"at": hours}, ("line 2", "line 3")).unique_key("at")
    aware = Cells("x", {"at": ["2023-10-29 02:00+02:00", "2023-10-29 02:00+01:00"]}, ("line 2", "line 3"))
    assert aware.unique_key("at") == ("2023-10-29 02:00+02:00", "2023-10-29 02:00+01:00")


def test_cells_and_arrays_of_days_have_the_same_names() -> None:
    cells = Cells("x", {"day": [dt.datetime(2024, 1, 31), dt.datetime(2024, 2, 1)]}, ("row 1", "row 2"))
    assert cells.unique_key("day") == DAYS
    arrays = {"instance": np.array(DAYS, dtype="datetime64[ns]")}
    assert strings(Path("x.npz"), arrays, "instance", 2) == DAYS
