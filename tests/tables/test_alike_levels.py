from __future__ import annotations

import pytest

from regretless.errors import RegretlessWarning
from regretless.tables.alike_levels import warn_of_alike, warn_of_two_cases
from regretless.tables.cells import Cells

CELLS = Cells("x.csv", {"zone": ["", "", ""]}, ("line 2", "line 3", "line 4"), "line 1")


def test_the_first_two_levels_that_are_alike_are_reported() -> None:
    said = r"x\.csv, line 1, column 'zone': 'North' and 'north ' count as two categories"
    with pytest.warns(RegretlessWarning, match=said):
        warn_of_two_cases(CELLS, "zone", ["North", "north ", "south"])
    warn_of_two_cases(CELLS, "zone", ["north", "south"])


def test_unknown_levels_are_reported_once_where_they_are_like_known_ones() -> None:
    with pytest.warns(RegretlessWarning) as told:
        warn_of_alike(CELLS, "zone", {"west": 0, "NORTH": 1, "south  west": 2}, ["north", "South West"])
    assert [str(one.message) for one in told] == [
        "x.csv, line 3, column 'zone': accepted as none of the known levels: 'NORTH' is probably 'north', "
        "'south  west' is probably 'South West'; write a level as in training if it is the same"
    ]
    warn_of_alike(CELLS, "zone", {"west": 0}, ["north"])
