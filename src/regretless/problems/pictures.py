"""Pictures of one solution, drawn on axes of matplotlib: chosen edges of a graph, or chosen amounts of items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regretless.errors import InputError

CHOSEN, LEFT_OUT = "#1f5fa8", "#c9d3de"
ROUTES = ("#1f5fa8", "#c76a1a", "#1b7837", "#b07aa1", "#b2182b", "#9c755f", "#edc948")


def draw_edges(
    axes: Any,
    places: ArrayLike,
    edges: ArrayLike,
    solution: ArrayLike,
    *,
    route: ArrayLike | None = None,
    background: bool = True,
    title: str = "",
) -> None:
    """Draw a graph with its chosen edges: a path, a tour, routes, or which facility serves whom.

    Args:
        axes: of matplotlib.
        places: ``(nodes, 2)`` coordinates; node 0 is drawn as a square.
        edges: ``(d, 2)`` pairs of nodes.
        solution: ``(d,)`` amounts; an edge is as thick as its amount.
        route: ``(d,)`` number of the route that a chosen edge belongs to, for its color.
        background: draw the edges that are not chosen, too.
        title: a line above the picture.
    """
    at, pairs, amount = np.asarray(places, dtype=float), np.asarray(edges), np.asarray(solution, dtype=float)
    if amount.shape != (len(pairs),):
        raise InputError(f"solution must have one amount per edge, ({len(pairs)},), got {amount.shape}")
    color = np.zeros(len(pairs), dtype=int) if route is None else np.asarray(route)
    if background:
        for a, b in pairs[amount <= 1e-6]:
            axes.plot(*at[[a, b]].T, color=LEFT_OUT, linewidth=0.6, zorder=1)
    for k in np.flatnonzero(amount > 1e-6):
        axes.plot(*at[pairs[k]].T, color=ROUTES[color[k] % len(ROUTES)], linewidth=2.2 * amount[k], zorder=2)
    axes.scatter(*at[1:].T, color="#333333", s=14, zorder=3)
    axes.scatter(*at[:1].T, color="#333333", s=60, marker="s", zorder=3)
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_axis_off()
    axes.set_aspect("equal")


def draw_amounts(axes: Any, values: ArrayLike, amounts: ArrayLike, *, title: str = "", label: str = "value") -> None:
    """Draw the values of items as bars, the darker the more of an item is chosen.

    Args:
        axes: of matplotlib.
        values: ``(d,)``.
        amounts: ``(d,)``, at least 0.
        title: a line above the picture.
        label: of the values.
    """
    value, amount = np.asarray(values, dtype=float), np.asarray(amounts, dtype=float)
    if value.ndim != 1 or value.shape != amount.shape:
        raise InputError(f"values and amounts must be vectors of one length, got {value.shape} and {amount.shape}")
    items = np.arange(len(value))
    axes.bar(items, value, color=LEFT_OUT, width=0.8)
    share = np.clip(amount / (amount.max(initial=0.0) or 1.0), 0.0, 1.0)
    for k in np.flatnonzero(share > 1e-6):
        axes.bar(items[k], value[k], color=CHOSEN, alpha=0.25 + 0.75 * share[k], width=0.8)
    axes.set_xlabel("item")
    axes.set_ylabel(label)
    axes.set_title(title, loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
