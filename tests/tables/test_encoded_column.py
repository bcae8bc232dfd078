from __future__ import annotations

import datetime as dt
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError, RegretlessWarning
from regretless.tables.cells import Cells
from regretless.tables.encoded_column import (
    OF_DATE,
    OF_TIME,
    WEEKDAYS,
    Column,
    learned,
    parts_of,
    warn_of_alike,
    warn_of_two_cases,
)


def cells(name: str, values: list[object]) -> Cells:
    return Cells("x.csv", {name: values}, [f"line {k + 2}" for k in range(len(values))])


def test_a_column_of_numbers_has_their_range_and_survives_json() -> None:
    column = learned(cells("wind", [float(k) for k in range(12)]), "wind", False, "refuse", "")
    assert (column.kind, column.range, column.features) == ("number", (0.0, 11.0), ["wind"])
    assert Column.from_dict(json.loads(json.dumps(column.as_dict()))) == column


def test_a_column_of_an_older_version_has_no_range_and_writes_none() -> None:
    old = {"name": "wind", "kind": "number", "parts": [], "other": False, "fill": None, "gaps": False, "mark": ""}
    assert Column.from_dict(old).range is None
    assert "range" not in Column.from_dict(old).as_dict()


@pytest.mark.parametrize("limits", [[1.0], [0.0, float("nan")], [0.0, 1.0, 2.0]])
def test_a_range_that_is_none_is_refused(limits: list[float]) -> None:
    with pytest.raises(ValueError, match="a column with the range"):
        Column.from_dict(Column("wind", "number").as_dict() | {"range": limits})


def test_levels_become_one_feature_each_and_rare_ones_share_one() -> None:
    column = learned(cells("zone", ["n"] * 3 + ["s"] * 3 + ["e"]), "zone", False, "refuse", "")
    assert column.features == ["zone=n", "zone=s", "zone=other"]
    found = column.encoded(cells("zone", ["s", "e", "w"]), "refuse", "refuse")
    assert np.array_equal(found, [[0, 1, 0], [0, 0, 1], [0, 0, 1]])


def test_empty_cells_are_refused_or_filled_with_the_median() -> None:
    given = cells("wind", [1.0, None, 5.0, 3.0])
    with pytest.raises(InputError, match=r"column 'wind'.*the cell is empty"):
        learned(given, "wind", False, "refuse", "")
    column = learned(given, "wind", False, "fill", "")
    assert column.encoded(given, "fill", "refuse").tolist() == [[1.0, 0.0], [3.0, 1.0], [5.0, 0.0], [3.0, 0.0]]


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


@given(st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)))
def test_every_part_of_a_date_is_a_number_between_minus_one_and_one(when: dt.datetime) -> None:
    parts = parts_of(when)
    assert set(parts) == set(OF_DATE)
    assert all(-1 <= value <= 1 for value in parts.values())
    assert sum(parts[name] for name in WEEKDAYS) == 1
    assert math.isclose(parts["year_sin"] ** 2 + parts["year_cos"] ** 2, 1.0)


def test_the_end_of_a_year_is_next_to_its_start_and_the_end_of_a_day_too() -> None:
    first, last = parts_of(dt.datetime(2024, 1, 1)), parts_of(dt.datetime(2023, 12, 31, 23, 59))
    assert all(abs(first[name] - last[name]) < 0.02 for name in OF_DATE if name.endswith(("sin", "cos")))
    assert (first["weekday=mon"], last["weekday=sun"]) == (1.0, 1.0)


def test_a_time_of_day_has_no_date() -> None:
    parts = parts_of(dt.time(6, 0))
    assert set(parts) == set(OF_TIME)
    assert math.isclose(parts["day_sin"], 1.0)


def test_a_year_and_a_day_begin_at_zero_and_every_second_counts() -> None:
    first = parts_of(dt.datetime(2024, 1, 1))
    assert (first["year_sin"], first["year_cos"], first["day_sin"], first["day_cos"]) == (0.0, 1.0, 0.0, 1.0)
    for middle in (dt.datetime(2024, 7, 2), dt.datetime(2023, 7, 2, 12)):  # 183 of 366 days, 182.5 of 365
        assert math.isclose(parts_of(middle)["year_cos"], -1.0)
        assert abs(parts_of(middle)["year_sin"]) < 1e-9
    assert math.isclose(parts_of(dt.time(12, 0, 30))["day_sin"], -math.sin(2 * math.pi * 30 / 86400))
