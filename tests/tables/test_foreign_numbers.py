from __future__ import annotations

import numpy as np
import pytest

from regretless.tables.foreign_numbers import are_compact_dates, foreign_form


@pytest.mark.parametrize(
    ("word", "what"),
    [
        ("3,0", "a number"),
        ("-3,25", "a number"),
        ("\u22123.5", "a number"),
        ("5%", "a number"),
        ("5.5 %", "a number"),
        ("1,234.5", "a number"),
        ("1.234,5", "a number"),
        ("1 234", "a number"),
        ("1'234", "a number"),
        ("$12.50", "a number"),
        ("12 €", "a number"),
        ("1/2/2024", "a date"),
        ("31.1.24", "a date"),
        ("2024/01/31", "a date"),
        ("2024-1-5", "a date"),
        ("1/31/2024 9:30 PM", "a date"),
        ("9:30", "a time"),
        ("09:30 am", "a time"),
    ],
)
def test_a_form_that_is_not_read_is_recognized(word: str, what: str) -> None:
    found = foreign_form(["other", word, word])
    assert found is not None
    assert found[:2] == (1, what)


@pytest.mark.parametrize(
    "word", ["north", "A1", "2-B", "1/2", "10-20", "3x4", "v1.2.3", "1.2.3", "5 kW", "Q1/2024", "1st", "12,north"]
)
def test_codes_stay_words(word: str) -> None:
    assert foreign_form([word, word]) is None


def test_a_few_such_words_among_others_are_levels() -> None:
    assert foreign_form(["low", "high", "5%"]) is None
    assert foreign_form(["low", "5%"]) is None


@pytest.mark.parametrize(
    ("values", "dates"),
    [
        ([20240131, 19991231], True),
        ([20241301, 20240131], False),
        ([20240131, 20240100], False),
        ([20240130.5], False),
        ([240131], False),
        ([], False),
    ],
)
def test_days_as_numbers_are_recognized_where_all_are_days(values: list[float], dates: bool) -> None:
    assert are_compact_dates(np.array(values, dtype=np.float64)) is dates


def test_a_number_with_a_thousands_separator_is_named_before_one_that_may_be_read() -> None:
    found = foreign_form(["714,12", "1.092,03", "2.000,50"])
    assert found == (1, "a number", "numbers as 1234.5, without thousands separators")
