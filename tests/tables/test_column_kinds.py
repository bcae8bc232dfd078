from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from regretless.errors import InputError
from regretless.tables.cells import Cells
from regretless.tables.column_kinds import as_date, kind_of, unread_date, value_of, values_of, word_of


def cells(column: list[Any]) -> Cells:
    return Cells("x.csv", {"a": column}, tuple(f"line {i + 2}" for i in range(len(column))), "line 1")


@pytest.mark.parametrize(
    ("column", "kind", "first"),
    [
        (["1.5", None, "-2e3"], "number", 1.5),
        ([3, 4], "number", 3.0),
        (["true", "No"], "boolean", 1.0),
        ([False, True], "boolean", 0.0),
        (["2024-01-31", "2024-02-01"], "date", dt.datetime(2024, 1, 31)),
        (["2024-01-31 12:30", "2024-02-01T00:00:00+01:00"], "date", dt.datetime(2024, 1, 31, 12, 30)),
        ([dt.date(2024, 1, 31)], "date", dt.datetime(2024, 1, 31)),
        ([dt.datetime(2024, 1, 31, 12, 30)], "date", dt.datetime(2024, 1, 31, 12, 30)),
        (["12:30", "00:15:00"], "time", dt.time(12, 30)),
        (["7:30", "12:30", "0:05:30"], "time", dt.time(7, 30)),
        (["north", "south"], "category", "north"),
    ],
)
def test_a_column_is_of_one_kind(column: list[Any], kind: Any, first: Any) -> None:
    table = cells(column)
    assert kind_of(table, "a") == kind
    assert value_of(table, "a", 0, kind) == first
    assert value_of(cells([None]), "a", 0, kind) is None


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (["1", "2", "ten"], r"x\.csv, line 4, column 'a': expected a finite number as in 2 other cells, got 'ten'"),
        (["2024-01-31", "2024-01-31", "31.1."], r"line 4, column 'a': expected a date such as .*, got '31.1.'"),
        (["red", "blue", "3"], r"line 4, column 'a': expected a word .*--categories a"),
        (["1", "2", "-"], r"got '-': correct the cell, leave it empty and add --missing fill, or declare the column"),
        ([None, [1, 2]], r"line 3, column 'a': expected one value, got '\[1, 2\]': split the column, or .*--ignore a"),
        ([None, None], r"x\.csv, line 1, column 'a': all cells are empty: leave the column out with --ignore a"),
        (
            ["3,5", "4,0"],
            r"line 2, column 'a': '3,5' looks like a number: write numbers as 1234\.5, or .*--categories a",
        ),
        (["2", "3,5", "4,0"], r"line 3, column 'a': '3,5' looks like a number"),
        (
            ["1/2/2024", "1/2/2024", "none"],
            r"line 2, column 'a': '1/2/2024' looks like a date: write dates as 2024-01-31",
        ),
        (["20240131", "20240201"], r"line 2, column 'a': '20240131' looks like a date: write dates as 2024-01-31"),
        ([20240131, 20240201], r"line 2, column 'a': '20240131' looks like a date: write dates as 2024-01-31"),
        (
            [f"31.{m}.{y}" for m in range(1, 8) for y in range(4)],
            r"28 different words in 28 rows.* dates as 2024-01-31",
        ),
        ([*(f"w{i}" for i in range(21)), *[None] * 30], r"21 different words in 21 rows, such as 'w0'"),
    ],
)
def test_a_column_of_no_kind_is_refused_with_a_remedy(column: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        kind_of(cells(column), "a")


@pytest.mark.parametrize("column", [["red", "blue", "3"], ["3,5", "4,5"], [f"w{i}" for i in range(21)]])
def test_the_options_of_a_remedy_can_be_pasted_whatever_the_name(column: list[Any]) -> None:
    table = cells(column)
    named = Cells(table.source, {"unit price": table.columns["a"]}, table.lines, table.header)
    with pytest.raises(InputError, match="--categories 'unit price'"):
        kind_of(named, "unit price")


@pytest.mark.parametrize("word", ["NaN", "nan", "NA", "na", "N/A", "#N/A", "<NA>", "null", "NULL"])
def test_words_for_an_empty_cell_are_empty_cells(word: str) -> None:
    assert kind_of(cells(["1.5", word]), "a") == "number"
    assert kind_of(cells(["north", word, word]), "a") == "category"
    assert value_of(cells([word]), "a", 0, "number") is None
    with pytest.raises(InputError, match="all cells are empty"):
        kind_of(cells([word]), "a")


@pytest.mark.parametrize(
    ("column", "first"),
    [
        (["31/01/2024", "01/02/2024"], "31/01/2024"),
        (["31.01.2024", "01.02.2024"], None),
        (["20240131", "20240201"], "20240131"),
        (["2024-01-31", "2024-02-01"], None),
        (["a", "b"], None),
        ([1, 2], None),
    ],
)
def test_dates_in_a_form_that_is_not_read_are_recognized(column: list[Any], first: str | None) -> None:
    assert unread_date(cells(column), "a") == first


@pytest.mark.parametrize(
    ("cell", "when"),
    [
        ("31.01.2024", "2024-01-31 00:00:00"),
        ("1.2.2024", "2024-02-01 00:00:00"),
        ("31.01.2024 12:30", "2024-01-31 12:30:00"),
        ("31.01.2024T12:30:05+01:00", "2024-01-31 12:30:05+01:00"),
        ("30.02.2024", "None"),
        ("01.13.2024", "None"),
        ("31.01.24", "None"),
        ("31.01.2024 noon", "None"),
        ("31/01/2024", "None"),
    ],
)
def test_in_a_date_with_points_the_day_comes_first(cell: str, when: str) -> None:
    assert str(as_date(cell)) == when


def test_a_text_with_an_underscore_is_no_number() -> None:
    assert kind_of(cells(["2024_01", "2024_02"]), "a") == "category"


def test_a_cell_of_another_kind_than_in_training_is_refused() -> None:
    for cell, kind in (
        ("x", "number"),
        ("inf", "number"),
        ("7", "date"),
        ("maybe", "boolean"),
        (2, "boolean"),
        ("noon", "time"),
    ):
        with pytest.raises(InputError, match=r"line 2, column 'a': expected .*: correct the cell"):
            value_of(cells([cell]), "a", 0, kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("column", "kind", "values"),
    [
        ([1, 2, 1], "number", [1.0, 2.0, 1.0]),
        (["1", None, "2.5"], "number", [1.0, None, 2.5]),
        ([1, 2.0, 1], "category", ["1", "2", "1"]),
        (["yes", "FALSE", None], "boolean", [1.0, 0.0, None]),
        ([1, True, "0"], "boolean", [1.0, 1.0, 0.0]),  # as other kinds of files have them
    ],
)
def test_all_values_of_a_column_are_those_of_its_cells(column: list[Any], kind: Any, values: list[Any]) -> None:
    found = values_of(cells(column), "a", kind)
    assert found == values == [value_of(cells(column), "a", i, kind) for i in range(3)]
    assert [type(value) for value in found] == [type(value) for value in values]


def test_the_name_of_a_level_does_not_depend_on_the_file() -> None:
    assert [word_of(cell) for cell in (3, 3.0, "3", "3.0", "03a", True)] == ["3", "3", "3", "3", "03a", "True"]
    assert [word_of(cell) for cell in (Decimal("3.00"), 2.5, "-4", "0", 0.0)] == ["3", "2.5", "-4", "0", "0"]


@pytest.mark.parametrize("code", ["007", "1E3", "00", "12345678901234567891", 12345678901234567891, "+5", "1_000"])
def test_the_code_of_a_level_keeps_all_its_characters(code: Any) -> None:
    assert word_of(code) == str(code)
