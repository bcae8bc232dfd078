"""Names beside points: each at the first free place around its point, or nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regretless.charts.chart_data import Series
from regretless.charts.style import COLORS

GAP, LONGEST = 7.0, 32
# Offset in points and alignment of the places around a point, in order of preference.
PLACES = (
    (GAP, 0, "left", "center"), (-GAP, 0, "right", "center"), (0, GAP, "center", "bottom"), (0, -GAP, "center", "top"),
    (GAP, GAP, "left", "bottom"), (GAP, -GAP, "left", "top"), (-GAP, GAP, "right", "bottom"),
    (-GAP, -GAP, "right", "top"),
)  # fmt: skip


def label_points(axes: Any, series: Sequence[Series]) -> None:
    """Write each name beside the first point of its series where it covers no other name, point or bar.

    A name without a free place is left out; pointing at the point still shows it. The figure must have its layout,
    which decides where the points are.
    """
    from matplotlib.transforms import Bbox

    figure = axes.get_figure()
    points = [one.points[0] for one in series]
    bars = [
        axes.transData.transform([(point.x, max(end, axes.get_ylim()[0])) for end in point.ends]) for point in points
    ]
    taken = [Bbox([low - 4, high + 4]) for low, high in bars]
    for one, point in zip(series, points, strict=True):
        name = one.label if len(one.label) <= LONGEST else f"{one.label[: LONGEST - 1]}…"
        look = {"color": COLORS[one.style.color], "fontsize": 8.5, "gid": f"label-{one.key}"}
        label = axes.annotate(name, (point.x, point.y), xytext=(0, 0), textcoords="offset points", **look)
        for dx, dy, horizontal, vertical in PLACES:
            label.set(position=(dx, dy), ha=horizontal, va=vertical)
            box = label.get_window_extent()
            inside = axes.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
            inside = inside and axes.bbox.y0 <= box.y0 and box.y1 <= axes.bbox.y1
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
        else:
            label.remove()
