from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

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
    assert [row_key(name) for name in names] == ["2024-01-31", other]


def test_cells_and_arrays_of_days_have_the_same_names() -> None:
    cells = Cells("x", {"day": [dt.datetime(2024, 1, 31), dt.datetime(2024, 2, 1)]}, ("row 1", "row 2"))
    assert cells.unique_key("day") == DAYS
    arrays = {"instance": np.array(DAYS, dtype="datetime64[ns]")}
    assert strings(Path("x.npz"), arrays, "instance", 2) == DAYS
