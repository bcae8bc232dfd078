from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from regretless.report.ticks import LIMIT, axis, drawable

VALUES = st.lists(st.floats(min_value=-1e140, max_value=1e140), min_size=1, max_size=5)


@given(VALUES, st.sampled_from([None, True, False]))
def test_every_value_lies_on_the_axis_and_ticks_are_few_and_rise(values: list[float], log: bool | None) -> None:
    scale = axis(values, 10.0, 110.0, log=log)
    for value in values:
        assert 10.0 <= scale.place(value) <= 110.0
    ticks = [value for value, _ in scale.ticks()]
    assert len(ticks) <= 12
    assert ticks == sorted(set(ticks))


@given(st.lists(st.floats(min_value=1e-6, max_value=1e6), min_size=2, max_size=5))
def test_order_is_kept(values: list[float]) -> None:
    scale = axis(values, 0.0, 100.0)
    places = [scale.place(value) for value in sorted(values)]
    assert places == sorted(places)


def test_spread_decides_for_the_logarithm_and_zero_forbids_it() -> None:
    assert axis([1.0, 100.0], 0, 1).log
    assert not axis([1.0, 10.0], 0, 1).log
    assert not axis([0.0, 100.0], 0, 1, log=True).log


def test_ticks_are_round_numbers() -> None:
    assert [label for _, label in axis([700.0, 1200.0], 0, 1).ticks()] == [
        "700",
        "800",
        "900",
        "1,000",
        "1,100",
        "1,200",
    ]
    assert [label for _, label in axis([0.0, 0.9], 0, 1).ticks()] == ["0", "0.2", "0.4", "0.6", "0.8"]
    assert [label for _, label in axis([0.0, 11.0], 0, 1).ticks()] == ["0", "2.5", "5.0", "7.5", "10.0"]


def test_logarithmic_ticks_are_powers_of_ten_over_a_wide_span() -> None:
    assert [label for _, label in axis([0.01, 1000.0], 0, 1).ticks()] == ["0.01", "0.1", "1", "10", "100", "1,000"]


@pytest.mark.parametrize("value", [0.0, 5.0, -3.0, 1e12])
def test_one_value_alone_has_an_axis_around_it(value: float) -> None:
    scale = axis([value, value], 0.0, 100.0)
    assert scale.low < scale.high
    assert 0.0 <= scale.place(value) <= 100.0


def test_values_that_would_overflow_are_not_drawable() -> None:
    assert [drawable(value) for value in (None, math.nan, math.inf, LIMIT, 1.0)] == [False, False, False, False, True]
