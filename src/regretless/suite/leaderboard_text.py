"""The scores of a leaderboard, as text and as a picture."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from regretless.charts import Chart, Panel, Point, Series, draw_panels, series_styles
from regretless.number_text import percentage
from regretless.training.methods import method

# Regrets, in percent of the objective, that differ by less count as equal: ratios of rounding errors say nothing.
LEAST = 1e-4
CLOSE = 1.02  # methods within 2 % of the best are worth trying
NOTHING = "–"
PROBLEM = "shortest-path"  # the problem that has every degree


@dataclass(frozen=True)
class CellScore:
    """A method in one cell, as means over the seeds.

    Attributes:
        cell: name of the cell.
        method: name of the method.
        seeds: number of runs.
        regret: on test data, in percent of the objective.
        deviation: its sample deviation; ``None`` for a single run.
        solves: exact solves of training and search.
        seconds: of training and search.
    """

    cell: str
    method: str
    seeds: int
    regret: float
    deviation: float | None
    solves: float
    seconds: float


@dataclass(frozen=True)
class MethodScore:
    """A method over all cells that every method has.

    Attributes:
        method: name.
        ratio: geometric mean of its regret over that of two-stage.
        worst: largest of these ratios.
        rank: mean rank among the methods; 1 is the best.
        wins: cells in which no other method has less regret.
        solves, seconds: means over the cells.
    """

    method: str
    ratio: float
    worst: float
    rank: float
    wins: int
    solves: float
    seconds: float


def leaderboard_markdown(
    methods: Sequence[MethodScore], cells: Sequence[CellScore], compared: Sequence[str], picture: str | None
) -> str:
    """Write the page: what is worth trying, methods over all cells, regret per cell."""
    parts = [_advice(methods, len(compared)), _table_of_methods(methods, len(compared))]
    if picture is not None:
        parts.append(f"![Regret relative to two-stage against the degree of the costs]({picture})")
    return "\n\n".join([*parts, _table_of_cells(methods, cells)]) + "\n"


def _advice(methods: Sequence[MethodScore], cells: int) -> str:
    trained = [score for score in methods if score.method != "two-stage"]
    if not trained or not cells:
        return "No cell has results of every method yet."
    best, over = trained[0], f"{cells} cells" if cells > 1 else "1 cell"
    if math.isnan(best.ratio):
        return (
            f"Two-stage is not among the methods, so there is no regret to divide by. Over {over} "
            f"`{best.method}` has the best mean rank: {best.rank:.1f}."
        )
    if best.ratio >= 1:
        return (
            f"**No method has less regret than two-stage.** Over {over} `{best.method}` comes closest: "
            f"{best.ratio:.3f} times that of two-stage in the geometric mean, and {best.worst:.3f} times "
            "in its worst cell."
        )
    near = [score for score in trained if score.ratio <= CLOSE * best.ratio]
    named = [score for score in near if score.ratio < 1]  # one that is not better than two-stage is not worth it
    names = ", ".join(f"`{score.method}`" for score in named)
    said = (
        f"**Worth trying: {names}.** Over {over} `{best.method}` has the lowest regret: {best.ratio:.3f} times "
        f"that of two-stage in the geometric mean, and {best.worst:.3f} times in its worst cell."
    )
    if len(named) > 1:
        return f"{said} The methods named are within 2 % of it."
    return said if len(near) > 1 else f"{said} No other method is within 2 % of it."


def _table_of_methods(methods: Sequence[MethodScore], cells: int) -> str:
    lines = ["| method | regret / two-stage | worst cell | mean rank | best in | exact solves | seconds |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for score in methods:
        mark = " †" if _dominated(score, methods) else ""
        lines.append(
            f"| {score.method}{mark} | {_number(score.ratio, '.3f')} | {_number(score.worst, '.3f')} | "
            f"{_number(score.rank, '.1f')} | {score.wins} of {cells} | {_number(score.solves, ',.0f')} | "
            f"{_number(score.seconds, '.1f')} |"
        )
    note = (
        "Exact solves and seconds are means per cell, for training and the choice of all settings together; labels and "
        "the evaluation on test data come on top and are the same for all."
    )
    if any(_dominated(score, methods) for score in methods):
        note += " † is best in no cell and needs no less supervision than a method with less regret."
    return "\n".join(lines) + f"\n\n{note}"


def _number(value: float, form: str) -> str:
    return NOTHING if math.isnan(value) else format(value, form)


def _dominated(score: MethodScore, methods: Sequence[MethodScore]) -> bool:
    """Whether a method wins nowhere, and a better one needs no more: true solutions alone, or true costs as well."""
    better = [other for other in methods if other.ratio < score.ratio]
    return score.wins == 0 and any(_needs_costs(score) or not _needs_costs(other) for other in better)


def _needs_costs(score: MethodScore) -> bool:
    return method(score.method.split(",")[0]).needs_costs


def _table_of_cells(methods: Sequence[MethodScore], cells: Sequence[CellScore]) -> str:
    if not cells:
        return "There are no results."
    names = [score.method for score in methods]
    lines = ["| cell | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for cell in dict.fromkeys(score.cell for score in cells):
        found = {score.method: score for score in cells if score.cell == cell}
        least = min(score.regret for score in found.values())
        texts = [_regret(found.get(name), least) for name in names]
        lines.append(f"| {cell} | " + " | ".join(texts) + " |")
    seeds = sorted({score.seeds for score in cells})
    many = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    title = f"Test regret in percent (mean and sample deviation; number of seeds: {many}), the lowest in bold:"
    return f"{title}\n\n" + "\n".join(lines)


def _regret(score: CellScore | None, least: float) -> str:
    if score is None:
        return NOTHING
    # With spaces that do not break: a wide table scrolls, and its figures stay on one line.
    deviation = "" if score.deviation is None else f"\u00a0±\u00a0{percentage(score.deviation / 100)}"
    text = percentage(score.regret / 100) + deviation
    # As "best in" counts: two regrets that differ by rounding only are both the lowest.
    return f"**{text}**" if score.regret <= least + LEAST else text


def draw_leaderboard(cells: Sequence[CellScore], baseline: str) -> Chart | None:
    """Draw one panel per number of training instances; ``None`` where there is nothing to compare."""
    places = {score.cell: _place(score.cell) for score in cells}
    regrets = {(place, score.method): score.regret for score in cells if (place := places[score.cell]) is not None}
    sizes = sorted({size for size, _ in filter(None, places.values())})
    methods = list(dict.fromkeys(score.method for score in cells if score.method != baseline))
    styles = series_styles((name, "") for name in methods)
    panels = []
    for size in sizes:
        degrees = sorted({degree for place in places.values() if place and place[0] == size for degree in (place[1],)})
        series = []
        for key, name in enumerate(methods):
            points = []
            for at, degree in enumerate(degrees):
                mine, base = regrets.get(((size, degree), name)), regrets.get(((size, degree), baseline))
                if mine is not None and base is not None:
                    text = f"{name}, degree {degree}: {mine:.2f} %, two-stage {base:.2f} %"
                    points.append(Point(float(at), max(mine, LEAST) / max(base, LEAST), text=text))
            series.append(Series(name, styles[name, ""], tuple(points), key))
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
