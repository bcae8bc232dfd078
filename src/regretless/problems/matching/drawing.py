"""A picture of one matching instance and its solution."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regretless.charts import Chart, chart_style, svg_file
from regretless.errors import InputError

FIELDS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#9c755f", "#edc948")
KINDS = (("linked, one field", "#1b7837", "-"), ("linked, two fields", "#1f5fa8", "-"), ("not linked", "#b2182b", "--"))


def draw_matching(links: ArrayLike, solution: ArrayLike, fields: ArrayLike, *, title: str = "") -> str:
    """Draw the two sides of an instance, all its links, and the matching over them.

    Nodes have the color of their field. Links are gray. Matched pairs are drawn over them, in one color for links
    inside a field, in another for links across fields, and dashed where the two nodes are not linked.

    Args:
        links: ``(left * right,)`` labels.
        solution: ``(left * right,)`` matching.
        fields: ``(2, side)`` field of every paper, the left side first.
        title: a line above the picture.

    Returns:
        The text of an SVG file.
    """
    of = np.asarray(fields)
    if of.ndim != 2 or len(of) != 2:
        raise InputError(f"fields must have shape (2, side), got {of.shape}")
    side = of.shape[1]
    linked, matched = (_square(name, value, side) for name, value in (("links", links), ("solution", solution)))
    kinds = np.where(linked, np.where(of[0][:, None] == of[1], 0, 1), 2)
    with chart_style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 1.2 + 0.125 * side), layout="constrained")
        axes = figure.subplots()
        axes.set_axis_off()
        axes.invert_yaxis()
        axes.margins(y=0.02)
        for i, j in np.argwhere(linked):
            axes.plot([0, 1], [i, j], color="#d0d0d0", linewidth=0.6, gid=f"link-{i}-{j}")
        for kind, (label, color, dash) in enumerate(KINDS):
            pairs = np.argwhere(matched & (kinds == kind))
            look: Any = {"color": color, "linestyle": dash, "linewidth": 1.8}
            axes.plot([], [], label=f"{label}: {len(pairs)}", **look)
            for i, j in pairs:
                axes.plot([0, 1], [i, j], gid=f"pair-{i}-{j}", **look)
        for column in (0, 1):
            colors = [FIELDS[int(field) % len(FIELDS)] for field in of[column]]
            axes.scatter([column] * side, range(side), s=30, c=colors, zorder=3, gid=f"side-{column}")
        axes.set_title(title)
        figure.legend(loc="outside lower center", ncols=3)
        return svg_file(Chart(figure))


def _square(name: str, value: ArrayLike, side: int) -> NDArray[np.bool_]:
    array: NDArray[Any] = np.asarray(value)
    if array.size != side * side:
        raise InputError(f"{name} must hold {side * side} values, got shape {array.shape}")
    return np.asarray(array.reshape(side, side) > 0.5)
