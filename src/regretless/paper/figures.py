"""The paper's figures, and two beyond it, as SVG and PNG."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from regretless.optional import need
from regretless.paper import drawings
from regretless.paper.gap_drawing import regret_against_solves
from regretless.paper.grid import Grid
from regretless.paper.policy_points import has_policies
from regretless.runs.results import Result, policy_words
from regretless.storage import write_bytes, write_json, write_text

STYLE = {
    "svg.hashsalt": "regretless",  # ids inside the file are then the same in every run
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "figure.dpi": 110,
    "legend.frameon": False,
}


def write_figures(grid: Grid, found: Sequence[Result], folder: Path | str) -> list[str]:
    """Draw every figure of a grid that has runs, and return the names.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    matplotlib = need("matplotlib", pip="regretless[figures]", why="draw figures")
    need("matplotlib.figure", pip="regretless[figures]", why="draw figures")
    names = []
    with matplotlib.rc_context(STYLE):
        if has_policies(grid):
            return _write(regret_against_solves(grid, found), folder)
        # The paper's figures are about its coin.
        found = [result for result in found if not policy_words(result.spec)]
        for problem in grid.problems:
            for draw in drawings.EACH:
                names += _write(draw(grid, problem, found), folder)
        for draw in drawings.FOCUS:
            names += _write(draw(grid, grid.focus, found), folder)
    return names


def _write(drawn: drawings.Drawing | None, folder: Path | str) -> list[str]:
    if drawn is None:
        return []
    base = Path(folder) / drawn.name
    svg, png = io.BytesIO(), io.BytesIO()
    # No date and no version in the files: the same numbers give the same bytes.
    drawn.figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    drawn.figure.savefig(png, format="png", dpi=150, metadata={"Software": None})
    write_text(base.with_suffix(".svg"), with_hover(svg.getvalue().decode(), drawn.hover))
    write_bytes(base.with_suffix(".png"), png.getvalue())
    about = {"title": drawn.title, "caption": drawn.caption, "question": drawn.question}
    write_json(base.with_suffix(".json"), about)
    return [drawn.name]


def with_hover(svg: str, hover: dict[str, str]) -> str:
    """Add to each named group of an SVG the text that browsers show when it is pointed at.

    >>> with_hover('<g id="p1"><path/></g>', {"p1": "a < b"})
    '<g id="p1"><title>a &lt; b</title><path/></g>'
    """

    def titled(match: re.Match[str]) -> str:
        text = hover.get(match[1])
        return match[0] if text is None else f"{match[0]}<title>{escape(text, quote=False)}</title>"

    return re.sub(r'<g id="([^"]+)">', titled, svg)
