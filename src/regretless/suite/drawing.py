"""The figure of the leaderboard: how regret compares with two-stage as costs become less linear."""

from __future__ import annotations

import re
from collections.abc import Sequence

from regretless.charts import Chart, Panel, Point, Series, draw_panels, series_styles
from regretless.suite.scores import LEAST, CellScore

PROBLEM = "shortest-path"  # the problem that has every degree


def draw_leaderboard(cells: Sequence[CellScore], baseline: str) -> Chart | None:
    """Draw one panel per number of training instances; ``None`` where there is nothing to compare."""
    places = {score.cell: _place(score.cell) for score in cells}
    regrets = {(place, score.method): score.regret for score in cells if (place := places[score.cell]) is not None}
    sizes = sorted({size for size, _ in filter(None, places.values())})
    methods = list(dict.fromkeys(score.method for score in cells if score.method != baseline))
    styles = series_styles((method, "") for method in methods)
    panels = []
    for size in sizes:
        degrees = sorted({degree for place in places.values() if place and place[0] == size for degree in (place[1],)})
        series = []
        for key, method in enumerate(methods):
            points = []
            for at, degree in enumerate(degrees):
                mine, base = regrets.get(((size, degree), method)), regrets.get(((size, degree), baseline))
                if mine is not None and base is not None:
                    text = f"{method}, degree {degree}: {mine:.2f} %, two-stage {base:.2f} %"
                    points.append(Point(float(at), max(mine, LEAST) / max(base, LEAST), text=text))
            series.append(Series(method, styles[method, ""], tuple(points), key))
        panels.append(
            Panel(
                series, "degree of the costs, shortest path", "regret / two-stage", f"n = {size}",
                x_ticks=[str(degree) for degree in degrees],
            )
        )  # fmt: skip
    return draw_panels(panels, columns=max(1, len(panels)), size=(4.6, 3.4), legend=True) if panels else None


def _place(cell: str) -> tuple[int, int] | None:
    """Number of instances and degree of a cell of the problem."""
    match = re.fullmatch(rf"{PROBLEM} deg (\d+) n (\d+)", cell)
    return None if match is None else (int(match[2]), int(match[1]))
