"""
Shortest paths with networkx
============================

Any Python function from costs to a solution can be the solver, without a model. Run it with::

    pip install networkx
    python examples/shortest_path_networkx.py
"""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import torch
from matplotlib import pyplot as plt

import regretless as rl

GRID = nx.grid_2d_graph(4, 4, create_using=nx.DiGraph)
GRID.remove_edges_from([(a, b) for a, b in GRID.edges if b < a])  # only right and down
EDGES = list(GRID.edges)


def shortest_path(costs: np.ndarray) -> np.ndarray:
    """Return the shortest path from corner to corner as a 0/1 vector over the edges."""
    for edge, cost in zip(EDGES, costs, strict=True):
        GRID.edges[edge]["cost"] = cost
    path = nx.bellman_ford_path(GRID, (0, 0), (3, 3), weight="cost")  # predicted costs may be negative
    used = set(pairwise(path))
    return np.array([float(edge in used) for edge in EDGES])


def data(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    features = generator.normal(size=(n, 5))
    mix = generator.binomial(1, 0.5, size=(5, len(EDGES)))
    return features, (features @ mix / 2 + 3) ** 4 / 50 * generator.uniform(0.8, 1.2, size=(n, len(EDGES)))


def main() -> dict[str, float]:
    problem = rl.Problem(oracle=shortest_path, dimension=len(EDGES), sense="min", name="grid 4 x 4")
    train, test = rl.Dataset.solve(problem, *data(), progress=False).split(2 / 3)
    relative = {}
    for p_solve in (1.0, 0.05):
        torch.manual_seed(0)
        model = torch.nn.Linear(5, len(EDGES))
        cache = rl.SolutionCache(problem, train.solutions, p_solve=p_solve, seed=0)
        rl.fit(model, rl.SPOPlus(cache), train, epochs=10, lr=0.3, batch_size=20, progress=False)
        relative[str(p_solve)] = rl.evaluate(model, test, problem).relative_regret
        share = 100 * relative[str(p_solve)]
        print(f"p_solve {p_solve}: {share:.1f} % longer than the optimum, {cache.statistics.solves} paths computed")
    path = test.solutions[0].numpy() > 0.5
    plt.figure(figsize=(3.4, 3.4))
    shown = {"pos": {node: (node[1], -node[0]) for node in GRID}, "node_size": 60, "node_color": "#6b7280"}
    colors = ["#0072b2" if used else "#d5d9de" for used in path]
    nx.draw(GRID, **shown, edgelist=EDGES, edge_color=colors, width=2.5, arrows=False)
    return relative


if __name__ == "__main__":
    main()
