from __future__ import annotations

from typing import Any

from regretless.charts import Panel, Point, Series, SeriesStyle, draw_panels
from regretless.charts.point_labels import LONGEST


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
