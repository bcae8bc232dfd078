from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from regretless.report.charts import POINTS, Dot, Series, legend, line_chart, scatter
from regretless.report.series_style import Look

from .conftest import EVIL

LOOK = Look(0, "", "circle")
WORDS = {"title": "T", "x_title": "x", "y_title": "y"}


def series(*dots: tuple[float, float], key: int = 0, label: str = "spo", deviation: float | None = None) -> Series:
    return Series(key, label, LOOK, tuple(Dot(x, y, deviation, f"{label} {y}") for x, y in dots))


def test_a_line_chart_is_well_formed_and_names_itself_and_its_axes() -> None:
    svg = line_chart([series((1, 2), (2, 3))], **WORDS)
    root = ElementTree.fromstring(str(svg))
    assert root.get("aria-label") == "T"
    assert {"x", "y"} <= {text.text for text in root.iter("text")}
    assert [title.text for title in root.iter("title")] == ["spo 2", "spo 3"]


def test_higher_values_lie_higher_and_later_ones_to_the_right() -> None:
    root = ElementTree.fromstring(str(line_chart([series((1, 10), (2, 20))], **WORDS)))
    first, second = ([float(circle.get(key, "")) for key in ("cx", "cy")] for circle in root.iter("circle"))
    assert second[0] > first[0]
    assert second[1] < first[1]


def test_several_seeds_have_a_band_and_one_has_none() -> None:
    assert 'class="band"' in str(line_chart([series((1, 2), (2, 3), deviation=0.5)], **WORDS))
    assert 'class="band"' not in str(line_chart([series((1, 2), (2, 3))], **WORDS))


def test_long_lines_carry_few_points_with_both_ends_among_them() -> None:
    titles = re.findall("<title>(.*?)</title>", str(line_chart([series(*((x, x) for x in range(500)))], **WORDS)))
    assert len(titles) <= POINTS + 6
    assert (titles[0], titles[-1]) == ("spo 0", "spo 499")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e200])
def test_values_that_cannot_be_drawn_are_left_out(value: float) -> None:
    assert line_chart([series((1, value))], **WORDS) is None
    assert scatter([series((value, 1))], **WORDS) is None
    assert "nan" not in str(line_chart([series((1, value), (2, 3))], **WORDS)).lower()


def test_nothing_to_draw_gives_no_chart() -> None:
    assert line_chart([], **WORDS) is None
    assert scatter([], **WORDS) is None


def test_a_single_point_is_drawn() -> None:
    assert str(line_chart([series((1, 5))], whole_x=True, **WORDS)).count("<title>") == 1


def test_a_band_below_zero_does_not_break_a_logarithmic_axis() -> None:
    svg = str(line_chart([series((1, 1), (2, 1000), deviation=5.0)], **WORDS))
    assert "log scale" in svg


def test_points_of_a_scatter_are_labelled_inside_the_picture() -> None:
    root = ElementTree.fromstring(str(scatter([series((1, 1), label="a"), series((3, 3), key=1, label="b")], **WORDS)))
    labels = [text for text in root.iter("text") if "label" in text.get("class", "")]
    assert sorted(text.text or "" for text in labels) == ["a", "b"]


def test_labels_that_find_no_place_are_left_out_and_none_is_written_over_another() -> None:
    crowd = [series((1, 1), key=key, label=f"method-{key}") for key in range(30)]
    svg = str(scatter(crowd, **WORDS))
    assert svg.count("<title>") == 30
    assert 1 <= svg.count('class="label') < 30


def test_names_are_escaped_in_charts_and_legend() -> None:
    evil = series((1, 2), (2, 3), label=EVIL)
    for markup in (
        line_chart([evil], title=EVIL, x_title=EVIL, y_title=EVIL),
        scatter([evil], **WORDS),
        legend([evil]),
    ):
        assert "<script" not in str(markup)
        assert "&lt;script&gt;" in str(markup)


def test_legend_has_a_button_for_each_series() -> None:
    markup = legend([series((1, 1)), series((1, 1), key=1, label="map-dc")])
    assert re.findall(r'aria-pressed="true" data-series="(\d)"', markup) == ["0", "1"]
