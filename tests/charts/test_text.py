from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.charts.text import decimals, finite, number, show, show_seconds


@pytest.mark.parametrize("value", [None, True, "", "abc", [1], {}])
def test_what_is_no_number_is_none(value: object) -> None:
    assert number(value) is None


def test_huge_integers_become_infinite() -> None:
    assert number(10**400) == math.inf
    assert number(-(10**400)) == -math.inf


def test_finite_leaves_out_the_rest() -> None:
    assert finite([1.0, None, math.nan, math.inf]) == [1.0]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (math.nan, "NaN"), (math.inf, "∞"), (-math.inf, "−∞"), (0.0, "0"), (-2.5, "−2.500"),
     (11040.0, "11,040"), (1e300, "1 × 10³⁰⁰"), (2.5e-7, "2.5 × 10⁻⁷")],
)  # fmt: skip
def test_numbers_are_written_for_people(value: float | None, text: str) -> None:
    assert show(value) == text


def test_a_number_has_the_decimals_of_its_column() -> None:
    assert [show(value, 1) for value in (0.25, 1177.25, -3.0, 0.0)] == ["0.2", "1,177.2", "−3.0", "0.0"]


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.5, "0.5 s"), (59.0, "59 s"), (60.0, "1 min 0 s"), (3599.0, "59 min 59 s"),
                        (3600.0, "1 h 0 min"), (7265.0, "2 h 1 min"), (math.inf, "∞")],
)  # fmt: skip
def test_durations_are_written_for_people(value: float | None, text: str) -> None:
    assert show_seconds(value) == text


def test_a_column_shares_its_decimals_unless_the_values_lie_far_apart() -> None:
    assert decimals([747.3, 1177.2], digits=4) == 1
    assert decimals([0.01, 12.8]) is None
    assert decimals([]) == 0


@given(st.floats() | st.none(), st.integers(0, 6) | st.none())
def test_every_number_can_be_written(value: float | None, places: int | None) -> None:
    assert show(value, places)
    assert show_seconds(value)


@given(st.floats(min_value=1e-4, max_value=9e5))
def test_four_digits_are_kept(value: float) -> None:
    assert float(show(value).replace(",", "")) == pytest.approx(value, rel=5.1e-4)
