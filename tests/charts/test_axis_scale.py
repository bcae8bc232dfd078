from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from regretless.charts.axis_scale import LIMIT, drawable, scale_axis, tick_label
from regretless.charts.style import chart_style

VALUES = st.lists(st.floats(min_value=-1e90, max_value=1e90), min_size=1, max_size=5)


def scaled(values: list[float], **options: Any) -> Any:
    axes = Figure().subplots()
    for name in "xy":
        scale_axis(axes, name, values, **options)
    return axes


def labels(axes: Any, name: str = "x") -> list[str]:
    low, high = axes.get_xlim() if name == "x" else axes.get_ylim()
    axis = axes.xaxis if name == "x" else axes.yaxis
    texts = axis.get_major_formatter().format_ticks(ticks := axis.get_majorticklocs())
    return [text for tick, text in zip(ticks, texts, strict=True) if low <= tick <= high]


@given(VALUES, st.sampled_from([None, True, False]), st.booleans())
def test_every_value_lies_on_the_axis_and_ticks_are_few_and_differ(
    values: list[float], log: bool | None, epochs: bool
) -> None:
    axes = scaled(values, log=log, epochs=epochs)
    low, high = axes.get_xlim()
    assert low < high
    assert all(low <= value <= high for value in values)
    shown = labels(axes)
    assert len(shown) <= 12
    if abs(high - low) > 1e-6 * max(abs(low), abs(high)):
        assert len(set(shown)) == len(shown)


def test_the_span_decides_for_the_logarithm_and_zero_rules_it_out() -> None:
    assert scaled([1.0, 100.0]).get_xscale() == "log"
    assert scaled([1.0, 10.0]).get_xscale() == "linear"
    assert scaled([0.0, 100.0], log=True).get_xscale() == "linear"


def test_a_logarithmic_axis_says_so() -> None:
    axes = Figure().subplots()
    assert scale_axis(axes, "y", [1.0, 1000.0]) == ", log scale"
    assert scale_axis(axes, "x", [1.0, 2.0]) == ""


def test_ticks_are_round_numbers() -> None:
    assert labels(scaled([700.0, 1200.0]), "y") == ["700", "800", "900", "1,000", "1,100", "1,200"]
    assert labels(scaled([0.01, 1000.0])) == ["0.01", "0.1", "1", "10", "100", "1,000"]
    assert labels(scaled([0.02, 0.2], log=True)) == ["0.02", "0.05", "0.1", "0.2"]


def test_epochs_end_with_the_axis_and_have_integer_ticks() -> None:
    axes = scaled([1.0, 4.0], epochs=True)
    assert axes.get_xlim() == (1.0, 4.0)
    assert labels(axes) == ["1", "2", "3", "4"]


def test_the_axis_of_values_that_are_never_negative_does_not_go_below_zero() -> None:
    assert scaled([0.01, 10.0], log=False).get_xlim()[0] == 0.0
    assert scaled([-1.0, 10.0]).get_xlim()[0] < -1.0


@pytest.mark.parametrize("values", [(0.001, 5e6), (1, 20), (123456, 123457), (1e-9, 1e12)])
def test_tick_labels_do_not_overlap(values: tuple[float, float]) -> None:
    with chart_style():
        figure = Figure(figsize=(5.0, 3.2))
        axes = figure.subplots()
        scale_axis(axes, "x", values)
        figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    inside = [box for box in boxes if axes.bbox.x0 - 1 <= (box.x0 + box.x1) / 2 <= axes.bbox.x1 + 1]
    assert len(inside) >= 2
    assert not any(box.overlaps(other) for k, box in enumerate(inside) for other in inside[:k])


@pytest.mark.parametrize("value", [0.0, 5.0, -3.0, 1e12])
def test_one_value_alone_has_an_axis_around_it(value: float) -> None:
    low, high = scaled([value]).get_xlim()
    assert low <= value < high
    assert high - low >= 0.1 * abs(value), "as wide as the value is large"


def test_values_that_would_overflow_are_not_drawable() -> None:
    assert not any(drawable(value) for value in (None, math.nan, math.inf, LIMIT, -LIMIT))
    assert drawable(-1.0)


def test_very_large_and_very_small_ticks_are_powers_of_ten() -> None:
    assert [tick_label(value) for value in (0.0, 1e6, 2e9, 3e-7)] == ["0", "1,000,000", "2 × 10⁹", "3 × 10⁻⁷"]
