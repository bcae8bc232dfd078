from __future__ import annotations

from xml.etree import ElementTree

import pytest
from regretless.report.frame import WIDTH, draw, frame, px


def test_pixels_are_short() -> None:
    assert [px(1.0), px(1.256), px(-0.5)] == ["1", "1.26", "-0.5"]


def test_wide_tick_labels_move_the_axis_to_the_right() -> None:
    assert frame([0, 1], [0, 900_000]).x.start > frame([0, 1], [0, 9]).x.start


def test_a_logarithmic_axis_says_so() -> None:
    svg = draw(frame([1, 1000], [1, 2]), [], title="t", x_title="seconds", y_title="regret")
    texts = [text.text for text in ElementTree.fromstring(svg).iter("text")]
    assert "seconds, log scale" in texts
    assert "regret" in texts


@pytest.mark.parametrize("xs", [(0.001, 5e6), (1, 20), (123456, 123457), (1e-9, 1e12)])
def test_tick_labels_stay_in_the_picture_and_do_not_overlap(xs: tuple[float, float]) -> None:
    svg = draw(frame(list(xs), [1, 2]), [], title="t", x_title="x", y_title="y")
    ticks = [text for text in ElementTree.fromstring(svg).iter("text") if text.get("class") == "tick middle"]
    assert ticks
    edge = 0.0
    for text in ticks:
        place, half = float(text.get("x", "0")), 3.0 * len(text.text or "")
        assert place - half >= edge
        edge = place + half
    assert edge <= WIDTH
