"""Beyond the paper: regret against the share of solves, for the coin and for the gap policies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from regretless.optional import need
from regretless.paper.drawings import BLUE, ORANGE, Drawing
from regretless.paper.grid import Grid
from regretless.paper.policy_points import Point, policy_points
from regretless.runs.results import Result

LOOKS = {"coin": (BLUE, "o"), "largest-gap": (ORANGE, "s")}
LEAST = 1e-4  # a share of nothing has no place on a logarithmic axis


def regret_against_solves(grid: Grid, found: Sequence[Result]) -> Drawing | None:
    """Draw the test regret of each policy against the share of instances that it solved, a panel a problem."""
    panels = {problem: policy_points(grid, problem, found) for problem in grid.problems}
    # The coin alone is no comparison.
    panels = {problem: lines for problem, lines in panels.items() if "largest-gap" in lines}
    if not panels:
        return None
    figures = need("matplotlib.figure", pip="regretless[figures]", why="draw figures")
    ticker = need("matplotlib.ticker", pip="regretless[figures]", why="draw figures")
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = figures.Figure(figsize=(3.3 * columns, 0.4 + 2.4 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    hover: dict[str, str] = {}
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for axis, (problem, lines) in zip(axes.flat, panels.items(), strict=False):
        for policy, points in lines.items():
            _line(axis, problem, policy, points, hover)
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{100 * x:g} %"))
        axis.set_title(problem, fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("share of instances solved")
    for axis in axes[:, 0]:
        axis.set_ylabel("test regret")
    axes[0, 0].legend(fontsize=8)
    return Drawing(
        "solves",
        "Regret against the share of solves",
        "Test regret of map-dc after training against the share of instances that were solved exactly (mean and "
        "deviation over the seeds). The coin is the paper's; largest-gap spends the same budget where the best cached "
        "solution and a Lagrangian bound are furthest apart, and solves no instance whose gap is closed.",
        "Beyond the paper",
        figure,
        hover,
    )


def _line(axis: Any, problem: str, policy: str, points: Sequence[Point], hover: dict[str, str]) -> None:
    color, marker = LOOKS[policy]
    shares, regrets = [max(point.share, LEAST) for point in points], [point.regret for point in points]
    spread = [0.0 if math.isnan(point.deviation) else point.deviation for point in points]
    axis.errorbar(shares, regrets, yerr=spread, color=color, label=policy, capsize=2, linewidth=1)
    for k, at in enumerate(points):
        (mark,) = axis.plot([max(at.share, LEAST)], [at.regret], marker=marker, color=color, markersize=4)
        name = f"solves-{problem}-{policy}-{k}"
        mark.set_gid(name)
        tail = "" if math.isnan(at.deviation) else f" ± {at.deviation:.2g}"
        hover[name] = f"{problem}, {policy}: regret {at.regret:.4g}{tail} with {at.share:.2%} solved, {at.seeds} seeds"
