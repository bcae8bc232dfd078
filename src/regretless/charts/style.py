"""The one look of all charts, and the names of its colors in the report's style sheet."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from regretless.charts.series_style import COLORS
from regretless.optional import need

INK, SOFT, GRID, PAPER = "#1d2126", "#5b6470", "#e6e8eb", "#ffffff"
CSS_NAMES = {INK: "ink", SOFT: "soft", GRID: "grid", PAPER: "card"}
CSS_NAMES |= {color: f"series-{index}" for index, color in enumerate(COLORS)}
SETTINGS = {
    "svg.fonttype": "none",  # text stays text: it can be selected, and the page chooses its font
    "svg.hashsalt": "regretless",  # equal charts give equal files
    "text.parse_math": False,  # a name with two dollar signs is not a formula
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so the layout is the same on every machine
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 9.0,
    "axes.titlesize": 10.0,
    "axes.edgecolor": SOFT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.major.size": 3.0,
    "ytick.major.size": 0.0,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "legend.frameon": False,
    "legend.fontsize": 8.5,
}


@contextmanager
def chart_style() -> Iterator[None]:
    """Draw and save in the style of the library; the caller's own settings of matplotlib come back afterwards."""
    matplotlib = need("matplotlib", pip="matplotlib", why="draw charts")
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # The browser has a font for a name in any script, even where matplotlib's own font has not.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        yield
