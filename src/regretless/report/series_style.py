"""Colour, dash and marker of each line: a family of methods shares a colour, its members differ in dash and marker.

The colours themselves are in the style sheet, in a version for light and one for dark pages; they follow Okabe and
Ito's palette, which people with any kind of colour vision can tell apart, and nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

COLOURS = 8
DASHES = ("", "7 4", "2 4", "10 4 2 4")
MARKERS = ("circle", "square", "triangle", "diamond", "cross")


@dataclass(frozen=True)
class Look:
    """How a series is drawn: index of its colour, its dash pattern, its marker."""

    colour: int
    dash: str
    marker: str


def looks(groups: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Look]:
    """Give each (method, variant) of a report its look, the same in every chart.

    >>> found = looks([("spo", ""), ("spo-cache", ""), ("map-dc", "")])
    >>> [look.colour for look in found.values()]
    [0, 0, 1]
    """
    families: dict[str, int] = {}
    used: dict[int, int] = {}
    found: dict[tuple[str, str], Look] = {}
    for method, variant in groups:
        if (method, variant) in found:
            continue
        colour = families.setdefault(method.split("-")[0], len(families)) % COLOURS
        member = used.get(colour, 0)
        used[colour] = member + 1
        found[method, variant] = Look(colour, DASHES[member % len(DASHES)], MARKERS[member % len(MARKERS)])
    return found
