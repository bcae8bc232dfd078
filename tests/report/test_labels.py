from __future__ import annotations

from xml.etree import ElementTree

from regretless.report.frame import frame
from regretless.report.labels import LONGEST, place_labels

AREA = frame([0.0, 1.0], [0.0, 1.0])


def test_a_free_point_has_its_label_to_the_right() -> None:
    (label,) = place_labels([(100.0, 100.0, "spo")], AREA)
    text = ElementTree.fromstring(label)
    assert float(text.get("x", "0")) > 100.0
    assert text.get("class") == "label start"


def test_a_point_at_the_right_edge_has_its_label_to_the_left() -> None:
    (label,) = place_labels([(AREA.x.stop, 100.0, "spo-cache")], AREA)
    assert 'class="label end"' in label


def test_neighbours_do_not_share_a_place() -> None:
    labels = place_labels([(100.0, 100.0, "spo"), (104.0, 100.0, "map-dc")], AREA)
    places = {(ElementTree.fromstring(label).get("x"), ElementTree.fromstring(label).get("y")) for label in labels}
    assert len(places) == 2


def test_a_long_name_is_cut() -> None:
    (label,) = place_labels([(60.0, 100.0, "x" * 200)], AREA)
    assert ElementTree.fromstring(label).text == "x" * (LONGEST - 1) + "…"
