from __future__ import annotations

import csv
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.tables.cells import Cells
from regretless.tables.decimal_marks import with_points
from regretless.tables.encoding import Encoding
from regretless.tables.read_table import read_table


def cells(decimal_commas: bool = True, **columns: list[Any]) -> Cells:
    lines = tuple(f"line {i + 2}" for i in range(len(next(iter(columns.values())))))
    return Cells("x.csv", columns, lines, "line 1", decimal_commas)


@pytest.mark.parametrize(
    ("column", "points"),
    [
        (["3,5", "4", None, "n/a"], ["3.5", "4", None, "n/a"]),
        (["-0,125", "+,5", "1,5E+3"], ["-0.125", "+.5", "1.5E+3"]),
        (["1,234", "3,5"], ["1.234", "3.5"]),
        (["1234,567", "1,234"], ["1234.567", "1.234"]),
        (["1.234", "3.5"], ["1.234", "3.5"]),
        (["1234", "5"], ["1234", "5"]),
        (["1.234,56", "3,5"], ["1.234,56", "3.5"]),
        (["1,234,567", "windy", "3,"], ["1,234,567", "windy", "3,"]),
    ],
)
def test_numbers_get_points_and_other_cells_stay(column: list[Any], points: list[Any]) -> None:
    assert with_points(cells(a=column), ["a"]).columns["a"] == points


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (["1,234", "12,500"], r"line 2, column 'a': '1,234' may be 1\.234 or 1234, .*: write 1,2340 or 1234, or save"),
        (["7", "1.234"], r"line 3, column 'a': '1\.234' may be 1\.234 or 1234"),
        (["1,234", "12.5"], r"line 3, column 'a': '12\.5' has a decimal point, and '1,234' in line 2 has a comma"),
    ],
)
def test_what_may_be_thousands_and_two_marks_are_refused(column: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        with_points(cells(a=column), ["a"])


def test_a_comma_of_another_column_shows_what_it_is_and_a_point_does_not() -> None:
    assert with_points(cells(a=["1,234"], b=["0,5"]), "ab").columns["a"] == ["1.234"]
    for a, b in (("1.234", "12.30"), ("1,234", "12.30"), ("1.234", "0,5")):
        with pytest.raises(InputError, match=r"column 'a': .* may be"):
            with_points(cells(a=[a], b=[b]), "ab")
    # in a table of numbers no column holds anything else
    assert with_points(cells(a=["1.234"], b=["12.30"]), "ab", showing={",", "."}).columns["a"] == ["1.234"]


def test_commas_are_no_decimal_marks_where_they_separate_cells() -> None:
    table = cells(decimal_commas=False, a=["3,5", "1.234"])
    assert with_points(table, ["a"]) is table


def test_a_column_is_read_in_new_rows_as_in_training() -> None:
    encoding = Encoding.learn(cells(wind=["12,5", "1,234"], size=["1,5", "2,5"]), categories=["size"])
    assert [(one.kind, one.mark) for one in encoding.columns] == [("number", ","), ("category", "")]
    # one row does not show what 1,234 is: the column of training does
    for row in (cells(wind=["1,234"], size=["1,5"]), cells(False, wind=["1.234"], size=["1,5"])):
        assert encoding.apply(row).tolist() == [[1.234, *encoding.apply(cells(wind=["5"], size=["1,5"]))[0, 1:]]]
    with pytest.raises(InputError, match=r"'1\.234' may be"):
        encoding.apply(cells(wind=["1.234"], size=["1,5"]))
    with pytest.raises(InputError, match=r"column 'wind': expected a finite number, got '1\.234,5': write numbers as"):
        encoding.apply(cells(wind=["1.234,5"], size=["1,5"]))
    # points where training had commas: the file is another country's
    two = Encoding.learn(cells(wind=["12,5", "1,234"], sun=["3,5", "4,5"]))
    assert two.apply(cells(wind=["1,234"], sun=["3"])).tolist() == [[1.234, 3.0]]
    with pytest.raises(InputError, match=r"'1,234' may be"):
        two.apply(cells(wind=["1,234"], sun=["3.5"]))
    # a file with commas says nothing about those with semicolons
    plain = Encoding.learn(cells(False, wind=["12.5", "1.234"]))
    with pytest.raises(InputError, match=r"'1,234' may be"):
        plain.apply(cells(wind=["1,234"]))


def test_words_with_a_comma_stay_words() -> None:
    encoding = Encoding.learn(cells(zone=["north", "north", "1,5", "1,5", "north"]))
    assert encoding.feature_names == ("zone=1,5", "zone=north")


def test_a_wrong_cell_among_decimal_commas_is_named() -> None:
    with pytest.raises(InputError, match=r"line 4, column 'a': expected a finite number as in 2 other cells, got 'wi"):
        Encoding.learn(cells(a=["3,5", "4,5", "windy"]))
    with pytest.raises(InputError, match=r"line 3, column 'a': expected a finite number as in 2 .*, got '1\.234,56'"):
        Encoding.learn(cells(a=["3,5", "1.234,56", "4,5"]))


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.decimals(-9999, 9999, places=3).map(float)


@given(st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=1, max_size=5))
def test_numbers_are_the_same_in_every_dialect(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[float]]
) -> None:
    path, found = tmp_path_factory.mktemp("table") / "t.csv", []
    for separator, mark in ((",", "."), (";", "."), (";", ","), ("\t", ".")):
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=separator)
            writer.writerow(["a", "b", "share"])
            writer.writerows([str(cell).replace(".", mark) for cell in (*row, 0.5)] for row in rows)
        found.append(read_table(path).values.tolist())
    assert found == [[[*row, 0.5] for row in rows]] * 4
