from __future__ import annotations

import pytest

from regretless.charts import Point


@pytest.mark.parametrize(
    ("point", "ends"),
    [(Point(0, 5.0, 2.0), (3.0, 7.0)), (Point(0, 5.0, 9.0), (0.0, 14.0)), (Point(0, -5.0, 1.0), (-6.0, -4.0)),
     (Point(0, 5.0), (5.0, 5.0)), (Point(0, 0.5, 0.25), (0.25, 0.75)), (Point(0, 0.0, 1.0), (0.0, 1.0)),
     (Point(0, 5.0, float("nan")), (5.0, 5.0))],
)  # fmt: skip
def test_a_bar_reaches_one_deviation_to_each_side_and_never_below_zero_without_need(
    point: Point, ends: tuple[float, float]
) -> None:
    assert point.ends == ends
