from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.charts import (
    Chart,
    Panel,
    Point,
    Series,
    SeriesStyle,
    draw_panels,
    inline_svg,
    png_file,
    svg_file,
    swatch,
)
from regretless.charts.style import COLORS
from regretless.charts.text import printable

EVIL = '<script>alert(1)</script> & "quotes"'
NAMESPACE = "{http://www.w3.org/2000/svg}"


def chart(label: str = "spo", text: str = "value") -> Chart:
    points = tuple(Point(x, x * x, 0.5, f"{text} {x}") for x in range(1, 9))
    series = Series(label, SeriesStyle(1), points, 4, Point(3, 9, None, "restored"))
    drawn = draw_panels([Panel([series], "epoch", "regret", labeled=True)])
    assert drawn is not None
    return drawn


@pytest.fixture(scope="module")
def usual() -> Chart:
    return chart()


def test_equal_charts_give_equal_files(usual: Chart) -> None:
    assert svg_file(usual) == svg_file(chart())
    assert inline_svg(usual, name="a") == inline_svg(chart(), name="a")
    assert png_file(usual)[:4] == b"\x89PNG"


def test_a_file_holds_plain_colors_and_the_text_of_every_point(usual: Chart) -> None:
    text = svg_file(usual)
    assert text.startswith("<svg ")
    assert COLORS[1] in text
    assert "var(" not in text
    titles = [title.text for title in ElementTree.fromstring(text).iter(f"{NAMESPACE}title")]
    assert sorted(titles) == sorted([*(f"value {x}" for x in range(1, 9)), "restored"])


def test_an_element_has_no_style_no_address_and_no_color_of_its_own(usual: Chart) -> None:
    text = inline_svg(usual, name="a", title="T")
    assert not re.search(r"style|http|url\(|#[0-9a-f]{6}\b|<metadata|clip-path", text)
    assert set(re.findall(r"var\(--(.*?)\)", text)) == {"series-1", "ink", "soft", "grid", "card"}


def test_places_have_two_decimals_and_no_text_is_turned_by_zero_degrees(usual: Chart) -> None:
    for root in map(ElementTree.fromstring, (svg_file(usual), inline_svg(usual, name="a"))):
        places = [element.get(key, "") for element in root.iter() for key in ("d", "x", "y", "transform")]
        assert not any(re.search(r"\.\d{3}", place) for place in places)
    assert "rotate(-0 " not in inline_svg(usual, name="a")


def test_ids_of_an_element_begin_with_its_name_and_are_those_that_are_used(usual: Chart) -> None:
    root = ElementTree.fromstring(inline_svg(usual, name="a"))
    ids = [element.get("id", "") for element in root.iter() if element.get("id")]
    used = {element.get("href", "") for element in root.iter("use")}
    assert ids
    assert len(ids) == len(set(ids))
    assert {f"#{name}" for name in ids} == used
    assert all(name.startswith("a-") for name in ids)


def test_each_part_of_a_series_has_its_key_and_each_point_an_area_to_touch(usual: Chart) -> None:
    root = ElementTree.fromstring(inline_svg(usual, name="a"))
    parts = {element.get("class", "") for element in root.iter("g") if element.get("data-series") == "4"}
    assert parts == {f"series {part}" for part in ("band", "line", "points", "quiet", "restored", "label")}
    points = [group for group in root.iter("g") if group.get("class") == "point"]
    assert len(points) == 9
    for point in points:
        assert [child.tag for child in point] == ["title", "circle", "use"]
        assert point[1].get("cx") == point[2].get("x")


def test_text_stays_text_in_the_font_of_the_page(usual: Chart) -> None:
    root = ElementTree.fromstring(inline_svg(usual, name="a"))
    assert {"epoch", "regret, log scale", "spo"} <= {text.text for text in root.iter("text")}
    assert all(text.get("font-size") and not text.get("font-family") for text in root.iter("text"))


def test_a_title_is_read_aloud_and_a_picture_without_one_is_hidden(usual: Chart) -> None:
    assert 'role="img" aria-label="A &amp; B"' in inline_svg(usual, name="a", title="A & B")
    assert 'aria-hidden="true"' in inline_svg(swatch(SeriesStyle(0)), name="a")


def test_names_are_escaped() -> None:
    evil = chart(EVIL, EVIL)
    for text in (svg_file(evil), inline_svg(evil, name="a", title=EVIL)):
        assert "<script" not in text
        assert "&lt;script&gt;" in text


@pytest.mark.parametrize("name", ["$a$ and $b$", "a\x00b\x1b", "\ud800", "漢字 😀", "\\alpha_1^2%"])
def test_any_name_can_be_drawn_as_it_is(name: str) -> None:
    odd = chart(name, name)
    root = ElementTree.fromstring(inline_svg(odd, name="a"))
    assert printable(name) in {text.text for text in root.iter("text")}
    assert printable(f"{name} 1") in {title.text for title in root.iter("title")}


@given(st.text())
def test_printable_text_survives_as_xml(text: str) -> None:
    element = ElementTree.Element("a")
    element.set("b", printable(text))
    assert ElementTree.fromstring(ElementTree.tostring(element)).get("b") == printable(text)
