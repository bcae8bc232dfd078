"""The look of all charts: colors, dashes and markers of series, fonts, and the names of the colors in style sheets."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from regretless.optional import need

# Okabe and Ito's palette, darkened for white paper; the report's style sheet has a second version for dark pages.
COLORS = ("#6b7280", "#0072b2", "#c24e00", "#00845f", "#b0508d", "#a07800", "#22262b", "#2b95cf")
DASHES = ("-", (0, (4, 2)), (0, (1, 2)), (0, (6, 2, 1, 2)))
MARKERS = ("o", "s", "^", "D", "P")
INK, SOFT, GRID, PAPER = "#1d2126", "#5b6470", "#e6e8eb", "#ffffff"
CSS_NAMES = {INK: "ink", SOFT: "soft", GRID: "grid", PAPER: "card"}
CSS_NAMES |= {color: f"series-{index}" for index, color in enumerate(COLORS)}
SETTINGS = {
    "svg.fonttype": "none",  # text stays text: it can be selected, and the page chooses its font
    "svg.hashsalt": "regretless",  # equal charts give equal files
    "text.parse_math": False,  # a name with two dollar signs is not a formula
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the layout is the same on every machine
    "font.size": 9.0, "axes.titlesize": 10.0, "legend.fontsize": 8.5,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": SOFT, "xtick.color": SOFT, "ytick.color": SOFT,
    "figure.facecolor": PAPER, "axes.facecolor": "none", "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False,
    "ytick.major.size": 0.0, "ytick.major.pad": 7.0,  # the marker of a first epoch stands on the edge
    "axes.grid": True, "axes.grid.axis": "y", "axes.axisbelow": True, "grid.color": GRID,
}  # fmt: skip


@dataclass(frozen=True)
class SeriesStyle:
    """Position of the color in ``COLORS``, and dash and marker in the notation of matplotlib."""

    color: int
    dash: str | tuple[int, tuple[int, ...]] = "-"
    marker: str = "o"


def series_styles(names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], SeriesStyle]:
    """Give each (method, variant) its style: a family shares a color, and its members differ in dash and marker.

    >>> found = series_styles([("spo", ""), ("spo-cache", ""), ("map-dc", "")])
    >>> [style.color for style in found.values()]
    [0, 0, 1]
    """
    families: dict[str, int] = {}
    members: dict[int, int] = {}
    styles = {}
    for method, variant in dict.fromkeys(names):
        color = families.setdefault(method.split("-")[0], len(families)) % len(COLORS)
        member = members.get(color, 0)
        members[color] = member + 1
        styles[method, variant] = SeriesStyle(color, DASHES[member % len(DASHES)], MARKERS[member % len(MARKERS)])
    return styles


@contextmanager
def chart_style() -> Iterator[None]:
    """Draw and save in this look; the caller's own settings of matplotlib come back afterwards."""
    matplotlib = need("matplotlib", pip="matplotlib", why="draw charts")
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # The browser has a font for a name in any script, even where the font of matplotlib has not.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        yield
