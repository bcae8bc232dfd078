"""Write the paper's figures, and two beyond it, as SVG and PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regretless.charts import png_file, svg_file
from regretless.paper.drawings import FOCUS, PER_PROBLEM, Drawing
from regretless.paper.gap_drawing import regret_against_solves
from regretless.paper.grid import Grid
from regretless.paper.policy_points import has_policies
from regretless.runs.results import Result, policy_words
from regretless.storage import write_bytes, write_json, write_text


def write_figures(grid: Grid, found: Sequence[Result], folder: Path | str) -> list[str]:
    """Draw every figure of a grid that has runs, and return the names."""
    if has_policies(grid):
        drawn = [regret_against_solves(grid, found)]
    else:
        # The paper's figures are about its coin.
        found = [result for result in found if not policy_words(result.spec)]
        drawn = [draw(grid, problem, found) for problem in grid.problems for draw in PER_PROBLEM]
        drawn += [draw(grid, grid.focus, found) for draw in FOCUS]
    figures = [figure for figure in drawn if figure is not None]
    for figure in figures:
        _write(figure, Path(folder) / figure.name)
    return [figure.name for figure in figures]


def _write(figure: Drawing, base: Path) -> None:
    write_text(base.with_suffix(".svg"), svg_file(figure.chart))
    write_bytes(base.with_suffix(".png"), png_file(figure.chart))
    about = {"title": figure.title, "caption": figure.caption, "question": figure.question}
    write_json(base.with_suffix(".json"), about)
