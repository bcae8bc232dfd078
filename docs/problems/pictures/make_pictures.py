"""The pictures of the pages on problems with data from formulas: one solved instance each.

python docs/problems/pictures/make_pictures.py
"""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from regretless import Problem
from regretless.problems import load
from regretless.problems.complete_graph import edge_costs, graph_edges, routes
from regretless.problems.facility_location import facility_data, facility_milp
from regretless.problems.pictures import draw_amounts, draw_edges
from regretless.problems.polynomial_costs import Formula
from regretless.problems.shortest_path import grid_edges
from regretless.problems.vehicle_routing import RoutingOracle, customer_demands
from regretless.storage import write_text

FOLDER = Path(__file__).parent
ONE: dict[str, Any] = {"train": 1, "test": 1}


def shortest_path(axes: Any) -> None:
    """The shortest path through a 5 by 5 grid."""
    first = load("shortest-path", **ONE).train
    places = [(node % 5, -(node // 5)) for node in range(25)]
    length = float(first.costs[0] @ first.solutions[0])
    draw_edges(axes, places, grid_edges(5, 5), first.solutions[0], title=f"a path of length {length:.2f}")


def multi_knapsack(axes: Any) -> None:
    """Items that fit two capacities."""
    first = load("multi-knapsack", **ONE).train
    total = float(first.costs[0] @ first.solutions[0])
    draw_amounts(axes, first.costs[0], first.solutions[0], title=f"items of value {total:.0f} fit both capacities")


def travelling_salesman(axes: Any) -> None:
    """The shortest tour through 20 nodes."""
    first = load("travelling-salesman", **ONE).train
    places, _, _ = edge_costs(Formula(1, features=10, deg=4, noise=0.5, seed=135), 20)
    length = float(first.costs[0] @ first.solutions[0])
    draw_edges(axes, places, graph_edges(20), first.solutions[0], title=f"a tour of length {length:.1f}")


def vehicle_routing(axes: Any) -> None:
    """Routes of vehicles to 20 customers."""
    places, _, costs = edge_costs(Formula(1, features=10, deg=4, noise=0.5, seed=42), 21)
    oracle = RoutingOracle(customer_demands(20, 42), 30.0, 5)
    chosen = Problem(oracle=oracle, dimension=210).solve(costs)
    ways = routes(chosen.solution[0], 21)
    numbers = {frozenset(pair): k for k, way in enumerate(ways) for pair in pairwise(way)}
    route = [numbers.get(frozenset(pair), 0) for pair in graph_edges(21).tolist()]
    title = f"{len(ways)} routes of length {chosen.objective[0]:.1f}"
    draw_edges(axes, places, graph_edges(21), chosen.solution[0], route=route, background=False, title=title)


def portfolio(axes: Any) -> None:
    """Shares of 50 assets."""
    first = load("portfolio", **ONE).train
    total = float(first.costs[0] @ first.solutions[0])
    draw_amounts(axes, first.costs[0], first.solutions[0], title=f"shares that return {total:.3f}", label="return")


def facility_location(axes: Any) -> None:
    """Open facilities, and whom they serve."""
    data = facility_data(Formula(1, features=10, deg=4, noise=0.5, seed=135), 60, 8)
    problem = Problem(facility_milp(data.demands, data.capacities, data.opening_costs))
    chosen = problem.solve(data.costs)
    places = np.concatenate([data.facilities, data.customers])
    edges = [(j, 8 + i) for i in range(60) for j in range(8)]
    is_open = chosen.decision[0, -8:].numpy() > 0.5
    title = f"{is_open.sum()} of 8 facilities are open"
    shared = {"route": [edge[0] for edge in edges], "background": False, "title": title}
    draw_edges(axes, places, edges, chosen.solution[0, :-1], **shared)
    axes.scatter(*data.facilities.T, marker="s", s=50, c=["#333333" if it else "white" for it in is_open],
                 edgecolors="#333333", zorder=4)  # fmt: skip


def random_linear_program(axes: Any) -> None:
    """Amounts of 100 variables."""
    first = load("random-lp", **ONE).train
    total = float(first.costs[0] @ first.solutions[0])
    draw_amounts(axes, first.costs[0], first.solutions[0], title=f"amounts of value {total:.2f}")


def top_k(axes: Any) -> None:
    """The best 2 of 50 items, on their cubic."""
    first = load("top-k", **ONE).train
    x, value, chosen = first.features[0, :, 0].numpy(), first.costs[0].numpy(), first.solutions[0].numpy() > 0.5
    grid = np.linspace(-1, 1, 200)
    axes.plot(grid, 10 * (grid**3 - 0.65 * grid), color="#c9d3de", linewidth=2)
    axes.scatter(x[~chosen], value[~chosen], color="#8a94a0", s=14)
    axes.scatter(x[chosen], value[chosen], color="#1f5fa8", s=40)
    axes.set_xlabel("feature")
    axes.set_ylabel("value")
    axes.set_title("the best 2 of 50 items", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def workshop(axes: Any) -> None:
    """The prices of a day and the energy bought in every hour."""
    day = load("workshop", **ONE).train
    axes.bar(range(24), day.solutions[0], color="#1f5fa8", width=0.9)
    axes.set_xlabel("hour")
    axes.set_ylabel("energy bought (MWh)", color="#1f5fa8")
    prices = axes.twinx()
    prices.step(range(24), day.costs[0], where="mid", color="#c76a1a")
    prices.set_ylabel("price (per MWh)", color="#c76a1a")
    axes.set_title(f"a day that costs {float(day.costs[0] @ day.solutions[0]):.0f}", loc="left", fontsize=10)
    for one in (axes, prices):
        one.spines["top"].set_visible(False)


def main() -> None:
    """Draw all pictures."""
    mpl.rcParams.update({"svg.hashsalt": "regretless", "font.size": 10, "svg.fonttype": "none"})
    drawn: tuple[tuple[Callable[[Any], None], tuple[float, float]], ...] = (
        (shortest_path, (3.4, 3.4)), (multi_knapsack, (6.4, 2.4)), (travelling_salesman, (4.6, 4.0)),
        (vehicle_routing, (4.6, 4.0)), (portfolio, (6.4, 2.4)), (facility_location, (4.6, 4.0)),
        (random_linear_program, (6.4, 2.4)), (top_k, (4.6, 2.8)),
        (workshop, (6.4, 2.6)),
    )  # fmt: skip
    for draw, size in drawn:
        figure, axes = plt.subplots(figsize=size, layout="constrained")
        draw(axes)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        plt.close(figure)
        write_text(FOLDER / f"{draw.__name__}.svg", text.getvalue())
        print(draw.__name__, len(text.getvalue()) // 1000, "kB")


if __name__ == "__main__":
    main()
