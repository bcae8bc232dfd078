from __future__ import annotations

from xml.etree import ElementTree

import pytest
from regretless.report.marks import SIZE, marker, point, swatch
from regretless.report.series_style import MARKERS, Look


def test_markers_have_different_outlines() -> None:
    assert len({marker(Look(0, "", shape), 5, 5) for shape in MARKERS}) == len(MARKERS)


@pytest.mark.parametrize("shape", MARKERS)
def test_a_point_says_its_value_and_its_hit_area_is_larger_than_its_marker(shape: str) -> None:
    root = ElementTree.fromstring(point(Look(0, "", shape), 5, 5, "spo 3"))
    assert root.findtext("title") == "spo 3"
    hit = root.find("circle")
    assert hit is not None
    assert float(hit.get("r", "0")) > 2 * SIZE


def test_a_swatch_shows_dash_and_colour_and_is_silent_to_screen_readers() -> None:
    text = swatch(Look(3, "7 4", "square"))
    assert 'stroke-dasharray="7 4"' in text
    assert "c3" in text
    assert 'aria-hidden="true"' in text
