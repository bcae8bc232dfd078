"""Draw panels: lines with bands or error bars, and single points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from regretless.charts.axis_scale import drawable, is_log, scale_axis
from regretless.charts.chart_data import Chart, Panel, Series
from regretless.charts.style import COLORS, PAPER, SeriesStyle, chart_style
from regretless.charts.text import printable

GAP, LONGEST = 7.0, 32
# Offset in points and alignment of the places around a point, in order of preference.
PLACES = (
    (GAP, 0, "left", "center"), (-GAP, 0, "right", "center"), (0, GAP, "center", "bottom"), (0, -GAP, "center", "top"),
    (GAP, GAP, "left", "bottom"), (GAP, -GAP, "left", "top"), (-GAP, GAP, "right", "bottom"),
    (-GAP, -GAP, "right", "top"),
)  # fmt: skip
# At most so many points of a line carry a text to point at, and at most so many of those show their marker.
READABLE, VISIBLE = 25, 6


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


Hover = dict[str, tuple[str, ...]]


def draw_panels(
    panels: Sequence[Panel], *, columns: int = 1, size: tuple[float, float] = (5.0, 3.2), legend: bool = False
) -> Chart | None:
    """Draw panels, row by row.

    Args:
        panels: what to draw.
        columns: panels in a row.
        size: width and height of one panel, in inches.
        legend: whether the names of all series stand below the panels.

    Returns:
        The chart, or ``None`` where no panel has a drawable point.
    """
    panels = [replace(panel, series=_drawable(panel.series)) for panel in panels]
    if not any(panel.series for panel in panels):
        return None
    with chart_style():
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        rows = math.ceil(len(panels) / columns)
        figure: Any = Figure(figsize=(size[0] * columns, size[1] * rows))
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        hover: Hover = {}
        for index, (place, panel) in enumerate(zip_longest(axes, panels)):
            if panel and panel.series:
                _draw_panel(place, panel, index, hover)
            else:
                place.set_axis_off()
        if legend:
            handles = {one.label: legend_handle(one.style, label=one.label) for panel in panels for one in panel.series}
            in_row = int(figure.get_figwidth() / (0.5 + 0.075 * max(map(len, handles)))) or 1
            figure.legend(handles=list(handles.values()), loc="outside lower center", ncols=min(in_row, len(handles)))
        # Once: as a setting of the figure, it would be found again, and all be drawn twice, for every file.
        ConstrainedLayoutEngine().execute(figure)
        for place, panel in zip(axes, panels, strict=False):
            if panel.labeled:
                label_points(place, panel.series)
        return Chart(figure, hover)


def swatch(style: SeriesStyle) -> Chart:
    """A short piece of a line with its marker, for a legend outside of the chart."""
    with chart_style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(0.42, 0.2))
        figure.add_artist(legend_handle(style, [0.05, 0.5, 0.95], [0.5, 0.5, 0.5], markevery=[1]))
        return Chart(figure)


def legend_handle(style: SeriesStyle, x: Sequence[float] = (), y: Sequence[float] = (), **more: Any) -> Any:
    """A line in the style of a series, a ``Line2D`` of matplotlib."""
    from matplotlib.lines import Line2D

    look: Any = {"color": COLORS[style.color], "linestyle": style.dash, "marker": style.marker, "markersize": 5.5}
    return Line2D(x, y, **look, **more)


def _draw_panel(axes: Any, panel: Panel, index: int, hover: Hover) -> None:
    points = [p for one in panel.series for p in (*one.points, *([one.restored] if one.restored else []))]
    heights = [height for point in points for height in (point.y, point.ends[1])]
    log_y, lows = is_log(heights, panel.log_y), [point.ends[0] for point in points]
    if log_y:  # a bar that reaches almost to zero would stretch the axis, and one that reaches zero has no end on it
        lows = [low for low in lows if low > min(heights) / 2]
    places = [point.x for point in points]
    epochs = panel.epochs and len(set(places)) > 1
    x_scale = scale_axis(axes, "x", places, log=False if panel.x_ticks or epochs else panel.log_x, epochs=epochs)
    if panel.x_ticks:
        labels = {place: label for place, label in enumerate(panel.x_ticks) if label}
        axes.set_xticks(list(labels), list(labels.values()))
    axes.set_xlabel(panel.x_title + x_scale)
    y_scale = scale_axis(axes, "y", [*heights, *lows], log=log_y)
    # Not turned by 90 degrees: it is easier to read, and leaves the width to the lines.
    axes.set_title(panel.y_title + y_scale, loc="left", fontsize=9.0)
    if panel.title:
        axes.set_title(f"{panel.title}\n", fontweight="bold")  # a line above the title of the axis
    for one in panel.series:
        for artist in _draw_series(axes, one, panel, f"{index}-{one.key}", hover):
            artist.set_in_layout(False)


def _draw_series(axes: Any, one: Series, panel: Panel, name: str, hover: Hover) -> list[Any]:
    color, points, floor = COLORS[one.style.color], one.points, axes.get_ylim()[0]
    places = [point.x for point in points]
    lows, highs = [max(point.ends[0], floor) for point in points], [point.ends[1] for point in points]
    drawn = []
    if any(point.deviation for point in points):
        if panel.bars or len(points) == 1:
            drawn.append(axes.vlines(places, lows, highs, color=color, alpha=0.6, linewidth=1.2, gid=f"bar-{name}"))
        else:
            drawn.append(axes.fill_between(places, lows, highs, color=color, alpha=0.13, lw=0, gid=f"band-{name}"))
    if len(points) > 1:
        line = {"color": color, "linestyle": one.style.dash, "linewidth": 1.6, "gid": f"line-{name}"}
        drawn += axes.plot(places, [point.y for point in points], label=one.label, **line)
    look = {"color": color, "marker": one.style.marker, "markersize": 6.5, "markeredgecolor": PAPER, "clip_on": False}
    seen = {len(points) - 1} if panel.end_only else _spread(len(points), VISIBLE)
    groups = [("points", seen, look), ("quiet", _spread(len(points), READABLE) - seen, look | {"alpha": 0.0})]
    for part, chosen, how in groups if one.style.marker else ():
        if chosen:
            shown = [points[position] for position in sorted(chosen)]
            where = [point.x for point in shown], [point.y for point in shown]
            drawn += axes.plot(*where, linestyle="none", gid=f"{part}-{name}", **how)
            hover[f"{part}-{name}"] = tuple(point.text for point in shown)
    if one.restored:
        ring = {"marker": "o", "markersize": 11, "markerfacecolor": "none", "markeredgecolor": color}
        where = [one.restored.x], [one.restored.y]
        drawn += axes.plot(*where, linestyle="none", markeredgewidth=1.8, gid=f"restored-{name}", **ring)
        hover[f"restored-{name}"] = (one.restored.text,)
    return drawn


def _drawable(series: Sequence[Series]) -> list[Series]:
    kept = [(one, tuple(p for p in one.points if drawable(p.x) and drawable(p.y))) for one in series]
    return [replace(one, label=printable(one.label), points=points) for one, points in kept if points]


def _spread(count: int, most: int) -> set[int]:
    """At most ``most`` positions, evenly spread, the first and the last among them."""
    if count <= most:
        return set(range(count))
    return {round(step * (count - 1) / (most - 1)) for step in range(most)}
