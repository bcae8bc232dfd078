"""The frame of a chart: grid, ticks and axis titles around a plot area, as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regretless.report.markup import Markup, join, tag
from regretless.report.ticks import Axis, axis

WIDTH, HEIGHT = 480.0, 310.0
TOP, RIGHT, BOTTOM = 30.0, 16.0, 48.0
# A generous width of one character: there is nothing here to measure text with.
CHARACTER = 7.2


@dataclass(frozen=True)
class Frame:
    """The plot area with its two axes; ``y.start`` is its lower and ``y.stop`` its upper edge."""

    x: Axis
    y: Axis


def frame(
    xs: Sequence[float],
    ys: Sequence[float],
    *,
    log_x: bool | None = None,
    log_y: bool | None = None,
    whole_x: bool = False,
) -> Frame:
    """Lay the axes around the values; a scale that is not asked for is chosen by the values' spread."""
    bottom = HEIGHT - BOTTOM
    y = axis(ys, bottom, TOP, log=log_y)
    left = 14.0 + CHARACTER * max((len(label) for _, label in y.ticks(6)), default=1)
    return Frame(axis(xs, left, WIDTH - RIGHT, log=log_x, whole=whole_x), y)


def draw(area: Frame, content: Sequence[Markup], *, title: str, x_title: str, y_title: str) -> Markup:
    """Draw grid and axes with the content on top.

    Args:
        area: the axes.
        content: what is plotted.
        title: read out instead of the picture.
        x_title, y_title: of the axes; a logarithmic one says so itself.
    """
    x, y = area.x, area.y
    parts: list[Markup] = []
    for value, label in y.ticks(6):
        at = px(y.place(value))
        parts.append(tag("line", x1=px(x.start), x2=px(x.stop), y1=at, y2=at, class_="grid"))
        parts.append(tag("text", label, x=px(x.start - 7), y=at, dy="0.34em", class_="tick end"))
    free = 0.0
    for value, label in x.ticks():
        place, half = x.place(value), CHARACTER * len(label) / 2
        parts.append(tag("line", x1=px(place), x2=px(place), y1=px(y.start), y2=px(y.start + 4), class_="axis"))
        if place - half >= free and place + half <= WIDTH:
            parts.append(tag("text", label, x=px(place), y=px(y.start + 18), class_="tick middle"))
            free = place + half + CHARACTER
    parts.append(tag("line", x1=px(x.start), x2=px(x.stop), y1=px(y.start), y2=px(y.start), class_="axis"))
    below = px((x.start + x.stop) / 2)
    parts.append(tag("text", _with_scale(x_title, x), x=below, y=px(HEIGHT - 8), class_="name middle"))
    parts.append(tag("text", _with_scale(y_title, y), x=4, y=14, class_="name"))
    return tag("svg", join([*parts, *content]), viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", role="img", aria_label=title)


def _with_scale(title: str, scale: Axis) -> str:
    return f"{title}, log scale" if scale.log else title


def px(value: float) -> str:
    """Two decimals are finer than any screen and keep the page small."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
