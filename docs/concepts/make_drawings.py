"""The drawings of the concept pages.

python docs/concepts/make_drawings.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Polygon

import regretless as rl
from regretless.charts import Chart, chart_style, svg_file
from regretless.charts.style import COLORS, GRID, SOFT
from regretless.storage import write_text

FOLDER = Path(__file__).parent
GRAY, BLUE, ORANGE, GREEN = COLORS[:4]
POINTS = np.array([(1, 5), (2, 3.5), (3, 2), (5, 1), (4, 4), (5, 5), (3, 5), (6, 3)], dtype=float)
TRUE, PREDICTED = np.array([2.0, 1.0]), np.array([1.0, 2.2])


def feasible_set(axes: Any) -> None:
    """Eight feasible solutions in two dimensions."""
    hull = POINTS[[0, 1, 2, 3, 7, 5]]
    axes.add_patch(Polygon(hull, facecolor=GRID, alpha=0.5))
    axes.set(xlim=(0.2, 8.6), ylim=(0.2, 6), xticks=[], yticks=[], aspect="equal")
    axes.grid(visible=False)
    axes.spines["bottom"].set_visible(False)


def shifted(point: Any, right: float, up: float) -> tuple[float, float]:
    """A place beside a point, for its name."""
    return float(point[0]) + right, float(point[1]) + up


def arrow(axes: Any, start: Any, end: Any, color: str, text: str = "", shift: tuple[float, float] = (0.1, 0.1)) -> None:
    """An arrow with a name at its end."""
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=12, color=color, linewidth=1.6))
    axes.annotate(text, (end[0] + shift[0], end[1] + shift[1]), color=color)


def regret(figure: Figure) -> None:
    """The best solution at the true and at the predicted cost."""
    axes = figure.subplots()
    feasible_set(axes)
    best, chosen = POINTS[(POINTS @ TRUE).argmin()], POINTS[(POINTS @ PREDICTED).argmin()]
    axes.scatter(*POINTS.T, color=GRAY, s=22, zorder=3)
    for point, color in ((best, GREEN), (chosen, ORANGE)):
        axes.scatter(*point, color=color, s=70, zorder=4)
        line = np.array([[-1.0, 1.0]]).T * np.array([-TRUE[1], TRUE[0]]) * (1.9 if color == GREEN else 1.6) + point
        axes.plot(*line.T, color=color, linewidth=1.0, linestyle=(0, (4, 2)))
    axes.annotate(f"best at the true cost: {best @ TRUE:.0f}", shifted(best, 0.15, 0.25), color=GREEN)
    axes.annotate(f"decision at the prediction: {chosen @ TRUE:.0f}", shifted(chosen, 0.25, -0.3), color=ORANGE)
    corner = np.array([0.5, 0.5])
    arrow(axes, corner, corner + 0.5 * TRUE, GREEN, "true cost", (0.1, -0.1))
    arrow(axes, corner, corner + 0.5 * PREDICTED, ORANGE, "predicted", (0.1, 0.1))
    axes.set_title(f"regret = {chosen @ TRUE:.0f} - {best @ TRUE:.0f} = {(chosen - best) @ TRUE:.0f}", loc="left")


def solution_cache(figure: Figure) -> None:
    """A look-up among the stored solutions, and the optimum."""
    axes = figure.subplots()
    feasible_set(axes)
    stored = POINTS[[0, 3, 4, 7]]
    axes.scatter(*POINTS.T, facecolor="white", edgecolor=GRAY, s=40, zorder=3)
    axes.scatter(*stored.T, color=BLUE, s=44, zorder=4)
    cost = np.array([1.4, 1.6])
    found, optimum = stored[(stored @ cost).argmin()], POINTS[(POINTS @ cost).argmin()]
    axes.scatter(*found, facecolor="none", edgecolor=BLUE, s=190, linewidth=1.8, zorder=5)
    axes.annotate(f"look-up: {found @ cost:.1f}", shifted(found, 0.3, -0.1), color=BLUE)
    if (found != optimum).any():
        axes.annotate(f"optimum: {optimum @ cost:.1f}", shifted(optimum, -1.75, -0.45), color=GRAY)
    arrow(axes, (0.5, 0.5), (0.5 + 0.55 * cost[0], 0.5 + 0.55 * cost[1]), ORANGE, "cost")
    axes.set_title("filled: stored in S; hollow: feasible, not seen yet", loc="left")


def algorithm_2(figure: Figure) -> None:
    """The way of an instance through a step."""
    axes = figure.subplots()
    boxes = {
        "predict": (0.0, 1.0, "model predicts\nthe costs", GRAY), "coin": (2.4, 1.0, "coin of the\ninstance", GRAY),
        "solve": (4.9, 1.9, "solve exactly", ORANGE), "store": (7.2, 1.9, "add to S", ORANGE),
        "look": (4.9, 0.1, "look up the best\nmember of S", BLUE), "loss": (9.3, 1.0, "loss and\ngradient", GREEN),
    }  # fmt: skip
    for x, y, text, color in boxes.values():
        axes.add_patch(FancyBboxPatch((x, y), 1.6, 0.7, boxstyle="round,pad=0.08", facecolor="white", edgecolor=color))
        axes.annotate(text, (x + 0.8, y + 0.35), ha="center", va="center")
    ways = [("predict", "coin", ""), ("coin", "solve", "heads: p_solve"), ("coin", "look", "tails"),
            ("solve", "store", ""), ("store", "loss", ""), ("look", "loss", "")]  # fmt: skip
    for a, b, text in ways:
        (x0, y0), (x1, y1) = boxes[a][:2], boxes[b][:2]
        start, end = (x0 + 1.72, y0 + 0.35), (x1 - 0.12, y1 + 0.35)
        arrow(axes, start, end, SOFT)
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        axes.annotate(text, middle, (-26, 6 if y1 >= y0 else -14), textcoords="offset points", ha="center", color=SOFT)
    axes.set(xlim=(-0.3, 11.2), ylim=(-0.2, 2.9), xticks=[], yticks=[])
    axes.grid(visible=False)
    axes.spines["bottom"].set_visible(False)


def two_sides(figure: Figure) -> None:
    """Bounds from below and above on 12 instances of a knapsack, from a run of the library."""
    axes = figure.subplots()
    loaded = rl.load("synthetic-knapsack-60", days=60)
    problem, data = loaded.problem, loaded.train
    cache = rl.SolutionCache(problem, data.solutions[:8], policy=rl.GapAbove(0.001), grow_at="transformed")
    costs = problem.to_minimization(data.costs)[8:20]
    cache.prepare(costs)
    above = -(costs * cache.look_up([costs])[0]).sum(dim=1).numpy()
    gaps = cache.gaps(costs).numpy()
    best = -(costs * data.solutions[8:20]).sum(dim=1).numpy()
    place = np.arange(len(best))
    axes.vlines(place, 100 * above / best, 100 * above / best / (1 - gaps), color=GRID, linewidth=7)
    axes.scatter(
        place, 100 * above / best / (1 - gaps), marker="v", color=ORANGE, zorder=3, label="no solution can be better"
    )
    axes.scatter(place, 100 * above / best, marker="^", color=BLUE, zorder=3, label="best stored solution")
    axes.hlines(100, -0.5, len(best) - 0.5, color=GREEN, linewidth=1, label="true optimum")
    axes.set(xlabel="instance", ylabel="value, % of the optimum", xticks=[])
    figure.legend(loc="outside lower left", ncols=3)


def committee(figure: Figure) -> None:
    """Candidates of a search by their held-out regret; the best third is averaged."""
    axes = figure.subplots()
    loaded = rl.load("synthetic-knapsack-60", days=120)
    found = rl.auto(loaded.problem, loaded.train, loaded.model, epochs=8, progress=False)
    regrets = np.array([score.regret for score in found.scores])
    members = np.array([score.member for score in found.scores])
    shown = np.isfinite(regrets)
    place = np.arange(len(regrets))
    axes.scatter(place[shown & ~members], regrets[shown & ~members], color=GRAY, s=18, label="other candidates")
    axes.scatter(place[shown & members], regrets[shown & members], color=BLUE, s=30, label="committee")
    axes.axhline(found.verdict.two_stage, color=ORANGE, linewidth=1.2, linestyle=(0, (4, 2)), label="two-stage, solved")
    axes.axhline(found.verdict.model, color=GREEN, linewidth=1.2, label="average of the committee, solved")
    axes.set(xlabel="candidates, best first", ylabel="held-out regret", xticks=[])
    figure.legend(loc="outside lower left", ncols=4)


DRAWINGS = {regret: (5.6, 3.6), solution_cache: (5.6, 3.6), algorithm_2: (8.6, 2.4), two_sides: (7.6, 3.0),
            committee: (7.6, 3.2)}  # fmt: skip


def main() -> None:
    """Draw all of them."""
    for draw, size in DRAWINGS.items():
        with chart_style():
            figure = Figure(figsize=size, layout="constrained")
            draw(figure)
            write_text(FOLDER / f"{draw.__name__}.svg", svg_file(Chart(figure)))


if __name__ == "__main__":
    main()
