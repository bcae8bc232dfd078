from __future__ import annotations

import math
from typing import Any

import pytest

from regretless.charts import Chart, Panel, Point, Series, SeriesStyle, draw_panels, swatch
from regretless.charts.panels import LONGEST, READABLE, VISIBLE
from regretless.charts.style import chart_style


def labels(*points: tuple[float, float, str]) -> tuple[Any, list[Any]]:
    series = [Series(name, SeriesStyle(k % 8), (Point(x, y),), k) for k, (x, y, name) in enumerate(points)]
    chart = draw_panels([Panel(series, "x", "y", labeled=True, log_x=False)])
    assert chart is not None
    axes = chart.figure.axes[0]
    return axes, list(axes.texts)


def test_a_free_point_has_its_name_to_the_right() -> None:
    axes, (label, _) = labels((1, 1, "spo"), (3, 3, "map-dc"))
    assert label.get_text() == "spo"
    assert label.get_window_extent().x0 > axes.transData.transform((1, 1))[0]


def test_a_point_at_the_right_edge_has_its_name_to_the_left() -> None:
    axes, (_, label) = labels((1, 1, "spo"), (3, 1.1, "a rather long name"))
    assert label.get_window_extent().x1 < axes.transData.transform((3, 1.1))[0]


def test_no_name_covers_another_or_leaves_the_panel_and_the_rest_are_left_out() -> None:
    axes, found = labels(*((1 + 0.01 * k, 1, f"method-{k}") for k in range(30)))
    assert 1 <= len(found) < 30
    boxes = [label.get_window_extent() for label in found]
    assert not any(box.overlaps(other) for k, box in enumerate(boxes) for other in boxes[:k])
    assert all(axes.bbox.y0 <= box.y0 and box.y1 <= axes.bbox.y1 and axes.bbox.x0 <= box.x0 for box in boxes)


def test_a_long_name_is_cut() -> None:
    _, (label, *_) = labels((1, 1, "x" * 200), (3, 3, "b"))
    assert label.get_text() == "x" * (LONGEST - 1) + "…"


STYLE = SeriesStyle(1)


def series(*places: tuple[float, float], key: int = 0, deviation: float | None = None, **more: Any) -> Series:
    points = tuple(Point(x, y, deviation, f"value {y}") for x, y in places)
    return Series(f"line {key}", SeriesStyle(key), points, key, **more)


def drawn(*lines: Series, **options: Any) -> Chart:
    chart = draw_panels([Panel(lines, "x", "y", **options)])
    assert chart is not None
    return chart


def artists(chart: Chart, part: str) -> list[Any]:
    axes = chart.figure.axes[0]
    return [one for one in [*axes.lines, *axes.collections] if (one.get_gid() or "").startswith(f"{part}-")]


def test_a_line_has_its_places_and_its_points_have_their_texts() -> None:
    chart = drawn(series((1, 2), (2, 3)))
    (line,) = artists(chart, "line")
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1, 2], [2, 3])
    assert chart.hover == {"points-0-0": ("value 2", "value 3")}


def test_several_seeds_have_a_band_or_bars_and_one_has_neither() -> None:
    several = series((1, 2), (2, 3), deviation=0.5)
    assert len(artists(drawn(several), "band")) == 1
    assert len(artists(drawn(several, bars=True), "bar")) == 1
    alone = drawn(series((1, 2), (2, 3)))
    assert artists(alone, "band") == artists(alone, "bar") == []


def test_long_lines_carry_few_points_with_both_ends_among_them() -> None:
    chart = drawn(series(*((x, x) for x in range(500))))
    assert len(chart.hover["points-0-0"]) == VISIBLE
    assert VISIBLE + len(chart.hover["quiet-0-0"]) <= READABLE + VISIBLE
    assert (chart.hover["points-0-0"][0], chart.hover["points-0-0"][-1]) == ("value 0", "value 499")


def test_only_the_end_of_a_line_is_marked_where_that_is_wanted() -> None:
    chart = drawn(series((1, 2), (2, 3), (3, 4)), end_only=True)
    assert chart.hover == {"points-0-0": ("value 4",), "quiet-0-0": ("value 2", "value 3")}


def test_the_end_of_an_early_stop_is_a_ring_that_lies_on_the_axes() -> None:
    chart = drawn(series((1, 900), (2, 1000), restored=Point(1.5, 300, None, "restored")))
    (ring,) = artists(chart, "restored")
    assert ring.get_markerfacecolor() == "none"
    assert chart.hover["restored-0-0"] == ("restored",)
    assert chart.figure.axes[0].get_ylim()[0] < 300


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e200])
def test_values_that_cannot_be_drawn_are_left_out(value: float) -> None:
    assert draw_panels([Panel([series((1, value))], "x", "y")]) is None
    assert drawn(series((1, value), (2, 3))).hover == {"points-0-0": ("value 3",)}


def test_nothing_to_draw_gives_no_chart() -> None:
    assert draw_panels([]) is None
    assert draw_panels([Panel([], "x", "y")]) is None


def test_a_panel_without_points_keeps_its_place_empty() -> None:
    chart = draw_panels([Panel([], "x", "y"), Panel([series((1, 2))], "x", "y")], columns=2)
    assert chart is not None
    assert [axes.axison for axes in chart.figure.axes] == [False, True]


def test_a_band_that_reaches_zero_does_not_rule_out_a_logarithmic_axis() -> None:
    axes = drawn(series((1, 1), (2, 1000), deviation=5.0)).figure.axes[0]
    assert axes.get_yscale() == "log"
    assert axes.get_title(loc="left") == "y, log scale"


def test_a_band_that_reaches_almost_to_zero_does_not_stretch_a_logarithmic_axis() -> None:
    chart = drawn(series((1, 100), (2, 10_000), deviation=99.0))
    assert 50 < chart.figure.axes[0].get_ylim()[0] < 100
    (band,) = artists(chart, "band")
    assert min(band.get_paths()[0].vertices[:, 1]) >= chart.figure.axes[0].get_ylim()[0]


def test_words_of_narrow_panels_do_not_run_into_each_other() -> None:
    lines = [series((25, 33_000), (40_000, 3_300_000), key=key) for key in range(2)]
    panels = [Panel(lines, "exact solves", "test regret", "Blackbox", log_x=True) for _ in range(6)]
    chart = draw_panels(panels, columns=3, size=(3.5, 2.8), legend=True)
    assert chart is not None
    with chart_style():
        chart.figure.draw_without_rendering()
    for axes in chart.figure.axes:
        ticks = [label for label in axes.get_xticklabels() if label.get_text()]
        title = axes.title.get_window_extent()
        title.y0 = (title.y0 + title.y1) / 2  # its second line is empty
        boxes = [title, *(word.get_window_extent() for word in (axes._left_title, axes.xaxis.label, *ticks))]
        inside = [box for box in boxes if axes.bbox.x0 - 1 <= (box.x0 + box.x1) / 2 <= axes.bbox.x1 + 1]
        assert len(inside) >= 5
        assert not any(box.overlaps(other) for k, box in enumerate(inside) for other in inside[:k])


def test_steps_of_a_sweep_have_their_own_labels() -> None:
    axes = drawn(series((0, 2), (1, 3)), x_ticks=["0%", "100%"]).figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0%", "100%"]


def test_a_legend_names_every_series_once_for_all_panels() -> None:
    panel = Panel([series((1, 2)), series((1, 3), key=1)], "x", "y")
    chart = draw_panels([panel, panel], columns=2, legend=True)
    assert chart is not None
    (legend,) = chart.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["line 0", "line 1"]


def test_the_legend_covers_no_panel() -> None:
    lines = [series((1, k), (2, k + 1), key=k) for k in range(8)]
    chart = draw_panels([Panel(lines, "x", "y")], legend=True)
    assert chart is not None
    chart.figure.draw_without_rendering()
    box = chart.figure.axes[0].get_tightbbox()
    assert not chart.figure.legends[0].get_window_extent().overlaps(box)


def test_a_swatch_shows_dash_and_marker() -> None:
    (line,) = swatch(SeriesStyle(3, "--", "s")).figure.artists
    assert (line.get_linestyle(), line.get_marker()) == ("--", "s")
