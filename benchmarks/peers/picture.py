"""Rows of measurements -> one picture: milliseconds per epoch, one panel per problem and share of solves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from cells import METHODS, SHARES, TITLES
from figures import GUROBI, ORTOOLS, OURS, SIDES, Row, median, of_side
from matplotlib.figure import Figure

COLORS = {OURS: "#1f6fb4", ORTOOLS: "#d9601a", GUROBI: "#7a7a7a"}


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw the medians of CPU time on a logarithmic scale as SVG. The same rows give the same bytes."""
    figure = drawn(rows)
    with mpl.rc_context({"svg.hashsalt": "peers", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})


def drawn(rows: Sequence[Row]) -> Figure:
    """The figure, one line of panels per problem."""
    problems = list(dict.fromkeys(row["problem"] for row in rows if row["problem"] != "scale"))
    with mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(8.0, 0.6 + 2.4 * len(problems)), layout="constrained")
        panels = figure.subplots(len(problems), len(SHARES), sharey=True, squeeze=False)
        for line, problem in zip(panels, problems, strict=True):
            for panel, p_solve in zip(line, SHARES, strict=True):
                _panel(panel, rows, problem, p_solve)
            line[0].set_ylabel("CPU milliseconds per epoch")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(COLORS))
    return figure


def _panel(panel, rows: Sequence[Row], problem: str, p_solve: float) -> None:  # type: ignore[no-untyped-def]
    for k, (side, color) in enumerate(COLORS.items()):
        where = {"problem": problem, "p_solve": p_solve, **of_side(side)}
        known = [(i, median(rows, "cpu", method=method, **where)) for i, method in enumerate(METHODS)]
        places = [i + 0.27 * (k - 1) for i, value in known if value is not None]
        values = [1e3 * value for _, value in known if value is not None]
        bars = panel.bar(places, values, width=0.25, color=color, label=SIDES[side])
        # Milliseconds have two or three digits, which are no wider than a bar; seconds such as 0.024 are.
        panel.bar_label(bars, [f"{value:,.0f}" for value in values], fontsize=6.5, padding=1)
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter("{x:,.0f}")
    panel.margins(y=0.12)
    panel.set_xticks(range(len(METHODS)), [TITLES[method] for method in METHODS])
    panel.set_title(f"{problem}, p_solve {p_solve:.0%}", fontsize=9)
    panel.spines[["top", "right"]].set_visible(False)
