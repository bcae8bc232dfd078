"""Beyond the paper: regret against the share of solves, for the coin and for the gap policies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from regretless.charts import Panel, Point, Series, SeriesStyle, draw_panels
from regretless.charts.numbers import show
from regretless.paper.drawings import SPREAD, Drawing
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
                spread = "" if deviation is None else f" ± {show(deviation, digits=2)}"
                text = f"{problem}, {policy}: regret {show(point.regret)}{spread} with {point.share:.2%} solved"
                share = 100 * max(point.share, LEAST)
                dots.append(Point(share, point.regret, deviation, f"{text}, {point.seeds} seeds"))
            series.append(Series(policy, STYLES[policy], tuple(dots), key))
        titles = "instances solved, %", "test regret"
        panels.append(Panel(series, *titles, title=problem, log_x=True, spread="bars"))
    chart = draw_panels(panels, columns=min(3, max(1, len(panels))), size=(3.3, 2.6), legend="below")
    return chart and Drawing(
        "solves",
        "Regret against the share of solves",
        f"Test regret of map-dc after training ({SPREAD}) against the share of instances that were solved exactly. The "
        "coin is the paper's; largest-gap spends the same budget where the best cached solution and a Lagrangian bound "
        "are furthest apart, and solves no instance whose gap is closed.",
        "Beyond the paper",
        chart,
    )
