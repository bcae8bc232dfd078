"""Marks of a chart: a marker with its value on hover and a hit area that a finger finds."""

from __future__ import annotations

from regretless.report.frame import px
from regretless.report.markup import Markup, tag
from regretless.report.series_style import Look

SIZE = 4.0
HIT = 11


def marker(look: Look, x: float, y: float, *, size: float = SIZE) -> Markup:
    """The marker of a look, at a place."""
    return tag("path", d=_outline(look.marker, x, y, size), class_="mark")


def point(look: Look, x: float, y: float, text: str, *, size: float = SIZE, quiet: bool = False) -> Markup:
    """A marker that says its value; a quiet one is seen only when pointed at."""
    hit = tag("circle", cx=px(x), cy=px(y), r=HIT, class_="hit")
    return tag("g", tag("title", text), hit, marker(look, x, y, size=size), class_="point quiet" if quiet else "point")


def swatch(look: Look) -> Markup:
    """A piece of line with its marker, for the legend."""
    line = tag("line", x1=1, x2=29, y1=7, y2=7, class_="line", stroke_dasharray=look.dash or None)
    return tag(
        "svg", line, marker(look, 15, 7), viewBox="0 0 30 14", class_=f"swatch c{look.colour}", aria_hidden="true"
    )


def _outline(shape: str, x: float, y: float, r: float) -> str:
    if shape == "circle":
        return f"M{px(x - r)} {px(y)}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z"
    corners = {
        "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
        "triangle": ((0, -1.2), (1.15, 0.85), (-1.15, 0.85)),
        "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    }.get(shape, _CROSS)
    return "M" + "L".join(f"{px(x + r * dx)} {px(y + r * dy)}" for dx, dy in corners) + "z"


_CROSS = (
    (-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4),
    (0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4),
)  # fmt: skip
