"""Two kinds of chart as inline SVG: lines with bands, and labelled points. No library, no script needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regretless.report.frame import Frame, draw, frame, px
from regretless.report.labels import place_labels
from regretless.report.marks import point, swatch
from regretless.report.markup import Markup, join, tag
from regretless.report.series_style import Look
from regretless.report.ticks import drawable

# More points than this a line are not told apart by a finger, and make the page large.
POINTS = 25
VISIBLE = 6


@dataclass(frozen=True)
class Dot:
    """A place, half the height of its band or bar, and what it says when pointed at."""

    x: float
    y: float
    deviation: float | None = None
    text: str = ""


@dataclass(frozen=True)
class Series:
    """One line of a chart; ``key`` is shared by all charts that the same legend rules."""

    key: int
    label: str
    look: Look
    dots: tuple[Dot, ...]


def line_chart(
    series: Sequence[Series], *, title: str, x_title: str, y_title: str, log_x: bool | None = None,
    log_y: bool | None = None, whole_x: bool = False, end_only: bool = False,
) -> Markup | None:  # fmt: skip
    """Draw lines with a band of one deviation.

    Args:
        series: the lines; dots that cannot be drawn are left out.
        title: read out instead of the picture.
        x_title, y_title: of the axes.
        log_x, log_y: ``None`` lets the values decide.
        whole_x: end the axis where the values end.
        end_only: show only the marker at the end of each line.

    Returns:
        The SVG element, or ``None`` where there is nothing to draw.
    """
    series = _clean(series)
    if not series:
        return None
    dots = [dot for one in series for dot in one.dots]
    xs, ys = [dot.x for dot in dots], [y for dot in dots for y in _ends(dot)]
    if min(dot.y for dot in dots) > 0:
        ys = [y for y in ys if y > 0]  # a band that reaches below zero must not take away the logarithm
    area = frame(xs, ys, log_x=log_x, log_y=log_y, whole_x=whole_x and len(set(xs)) > 1)
    drawn = [_line(one, area, end_only=end_only) for one in series]
    return draw(area, drawn, title=title, x_title=x_title, y_title=y_title)


def scatter(
    series: Sequence[Series], *, title: str, x_title: str, y_title: str, log_x: bool | None = None,
    log_y: bool | None = None,
) -> Markup | None:  # fmt: skip
    """Draw one labelled point a series, with a bar of one deviation; ``None`` where there is nothing to draw."""
    series = _clean(series)
    if not series:
        return None
    dots = [(one, dot) for one in series for dot in one.dots]
    area = frame([dot.x for _, dot in dots], [dot.y for _, dot in dots], log_x=log_x, log_y=log_y)
    places = [(area.x.place(dot.x), area.y.place(dot.y)) for _, dot in dots]
    labels = place_labels([(*place, one.label) for place, (one, _) in zip(places, dots, strict=True)], area)
    drawn = []
    for (one, dot), (x, y), label in zip(dots, places, labels, strict=True):
        low, high = (px(area.y.place(value)) for value in _ends(dot))
        bar = tag("line", x1=px(x), x2=px(x), y1=low, y2=high, class_="bar") if dot.deviation else Markup()
        drawn.append(_group(one, bar, point(one.look, x, y, dot.text, size=5.0), label))
    return draw(area, drawn, title=title, x_title=x_title, y_title=y_title)


def legend(series: Sequence[Series]) -> Markup:
    """Buttons that show and hide the series of all charts in the same box."""
    items = [
        tag("li", tag("button", swatch(one.look), one.label, type="button", aria_pressed="true", data_series=one.key))
        for one in series
    ]
    return tag("ul", *items, class_="legend", aria_label="Legend: press to hide or show")


def _line(series: Series, area: Frame, *, end_only: bool) -> Markup:
    dots = series.dots
    path = "M" + "L".join(f"{px(area.x.place(dot.x))} {px(area.y.place(dot.y))}" for dot in dots)
    parts = [tag("path", d=path, class_="line", stroke_dasharray=series.look.dash or None)] if len(dots) > 1 else []
    if len(dots) > 1 and any(dot.deviation for dot in dots):
        upper = [(dot.x, _ends(dot)[1]) for dot in dots]
        lower = [(dot.x, _ends(dot)[0]) for dot in reversed(dots)]
        around = "L".join(f"{px(area.x.place(x))} {px(area.y.place(y))}" for x, y in upper + lower)
        parts.insert(0, tag("path", d=f"M{around}z", class_="band"))
    shown = {len(dots) - 1} if end_only else _spread(len(dots), VISIBLE)
    for index in sorted(_spread(len(dots), POINTS) | shown):
        dot = dots[index]
        place = area.x.place(dot.x), area.y.place(dot.y)
        parts.append(point(series.look, *place, dot.text, quiet=index not in shown))
    return _group(series, *parts)


def _group(series: Series, *parts: object) -> Markup:
    return tag("g", join(parts), class_=f"series c{series.look.colour}", data_series=series.key)


def _clean(series: Sequence[Series]) -> list[Series]:
    kept = [Series(s.key, s.label, s.look, tuple(d for d in s.dots if drawable(d.x) and drawable(d.y))) for s in series]
    return [one for one in kept if one.dots]


def _ends(dot: Dot) -> tuple[float, float]:
    reach = dot.deviation if dot.deviation is not None and drawable(dot.deviation) else 0.0
    low = dot.y - reach
    # What is never negative (regrets, counts, seconds) is not drawn as if it could be.
    return max(low, 0.0) if dot.y >= 0 else low, dot.y + reach


def _spread(count: int, most: int) -> set[int]:
    """At most so many indices, evenly spread, the first and the last among them."""
    if count <= most:
        return set(range(count))
    return {round(step * (count - 1) / (most - 1)) for step in range(most)}
