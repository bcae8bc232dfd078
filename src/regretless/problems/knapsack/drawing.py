"""A picture of one knapsack instance and its solution."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from regretless.charts import Chart, chart_style, svg_file
from regretless.errors import InputError
from regretless.problems.pictures import CHOSEN, LEFT_OUT


def draw_knapsack(values: ArrayLike, weights: ArrayLike, solution: ArrayLike, *, title: str = "") -> str:
    """Draw the slots of a day: height is the value per weight, width the weight, and the slots that are taken are dark.

    Args:
        values: ``(n,)`` values.
        weights: ``(n,)`` weights.
        solution: ``(n,)`` zeros and ones.
        title: a line above the picture.

    Returns:
        The text of an SVG file.
    """
    value, weight, taken = (np.asarray(x, dtype=np.float64) for x in (values, weights, solution))
    if value.ndim != 1 or value.shape != weight.shape or value.shape != taken.shape:
        raise InputError(
            f"values, weights and solution must be vectors of one length, got {value.shape}, {weight.shape}, "
            f"{taken.shape}"
        )
    starts = np.concatenate([[0.0], np.cumsum(weight)[:-1]])
    hover: dict[str, tuple[str, ...]] = {}
    with chart_style():
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch

        figure = Figure(figsize=(7.6, 3.2), layout="constrained")
        axes = figure.subplots()
        color = [CHOSEN if chosen > 0.5 else LEFT_OUT for chosen in taken]
        height = np.maximum(value / weight, 0.0)
        bars = axes.bar(starts, height, weight, align="edge", color=color, edgecolor="white", linewidth=0.8)
        for slot, bar in enumerate(bars):
            bar.set_gid(f"slot-{slot}")
            state = "taken" if taken[slot] > 0.5 else "left"
            hover[f"slot-{slot}"] = (f"slot {slot}: value {value[slot]:.0f}, weight {weight[slot]:g}, {state}",)
        total = f"value {value @ taken:.0f}, weight {weight @ taken:g}"
        axes.set_title(f"{title}: {total}" if title else total, loc="left", fontweight="bold")
        axes.set(xlabel="half-hour slots, each as wide as its weight", ylabel="value per unit of weight", xticks=[])
        axes.margins(x=0.01)
        handles = [Patch(color=CHOSEN, label="taken"), Patch(color=LEFT_OUT, label="left")]
        figure.legend(handles=handles, loc="outside lower left", ncols=2)
        return svg_file(Chart(figure, hover))
