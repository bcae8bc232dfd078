"""Color, dash and marker of each series: methods of one family share a color and differ in dash and marker."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

# Okabe and Ito's palette, darkened for white paper; the report's style sheet has a second version for dark pages.
COLORS = ("#6b7280", "#0072b2", "#c24e00", "#00845f", "#b0508d", "#a07800", "#22262b", "#2b95cf")
DASHES = ("-", (0, (4, 2)), (0, (1, 2)), (0, (6, 2, 1, 2)))
MARKERS = ("o", "s", "^", "D", "P")


@dataclass(frozen=True)
class SeriesStyle:
    """Position of the color in ``COLORS``, the dash and the marker, both in the notation of matplotlib."""

    color: int
    dash: str | tuple[int, tuple[int, ...]] = "-"
    marker: str = "o"


def series_styles(names: Iterable[tuple[str, Hashable]]) -> dict[tuple[str, Hashable], SeriesStyle]:
    """Give each (method, variant) its own style.

    >>> found = series_styles([("spo", ""), ("spo-cache", ""), ("map-dc", "")])
    >>> [style.color for style in found.values()]
    [0, 0, 1]
    """
    families: dict[str, int] = {}
    used: dict[int, int] = {}
    styles: dict[tuple[str, Hashable], SeriesStyle] = {}
    for method, variant in dict.fromkeys(names):
        color = families.setdefault(method.split("-")[0], len(families)) % len(COLORS)
        member = used.get(color, 0)
        used[color] = member + 1
        styles[method, variant] = SeriesStyle(color, DASHES[member % len(DASHES)], MARKERS[member % len(MARKERS)])
    return styles
