"""Beyond the paper: regret against the share of solves, for the coin and for the gap policies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from regretless.charts import Panel, Point, Series, SeriesStyle, draw_panels
from regretless.charts.curves import Statistic
from regretless.paper.drawings import SPREAD, Drawing, drawing
from regretless.paper.grid import Grid
from regretless.paper.policy_points import policy_points
from regretless.runs.results import Result

STYLES = {"coin": SeriesStyle(1), "largest-gap": SeriesStyle(2, marker="s")}
LEAST = 1e-4  # a share of zero has no place on a logarithmic axis


def regret_against_solves(grid: Grid, found: Sequence[Result]) -> Drawing | None:
    """Draw the test regret of each policy against the share of instances that it solved, one panel per problem."""
    panels = []
    for problem in grid.problems:
        lines = policy_points(grid, problem, found)
        if "largest-gap" not in lines:  # the coin alone is no comparison
            continue
        series = []
        for key, (policy, points) in enumerate(lines.items()):
            dots = []
            for point in points:
                deviation = None if math.isnan(point.deviation) else point.deviation
                regret = Statistic(point.regret, deviation, point.seeds, 0)
                text = f"{problem}, {policy}\n{point.share:.2%} solved\ntest regret {regret}"
                dots.append(Point(100 * max(point.share, LEAST), point.regret, deviation, text))
            series.append(Series(policy, STYLES[policy], tuple(dots), key))
        panels.append(Panel(series, "instances solved, %", "test regret", problem, log_x=True, bars=True))
    chart = draw_panels(panels, columns=min(3, max(1, len(panels))), size=(3.3, 2.6), legend=True)
    caption = (
        f"Test regret of map-dc after training ({SPREAD}) against the share of instances that were solved exactly. "
    )
    caption += "The coin is the paper's; largest-gap spends the same budget where the best cached solution and a "
    caption += "Lagrangian bound are furthest apart, and solves no instance whose gap is closed."
    return drawing("solves", "Regret against the share of solves", caption, "Beyond the paper", chart)
