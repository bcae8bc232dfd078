"""The shortest path by name, with costs from a formula."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import Floats
from regretless.problems.generated_problem import Settings
from regretless.problems.polynomial_costs import Costs, Formula, polynomial_costs
from regretless.problems.shortest_path.formulation import grid_edges, shortest_path_milp
from regretless.problems.shortest_path.oracle import ShortestPathOracle


def shortest_path_data(formula: Formula, rows: int, columns: int) -> tuple[Floats, Costs]:
    """Features ``(n, p)`` and edge costs ``(n, d)``; see ``polynomial_costs``."""
    x, c = polynomial_costs(formula.random(), formula, len(grid_edges(rows, columns)))
    return x, c.astype(np.float32)


def load_shortest_path(
    name: str, *, rows: int = 5, columns: int = 5, features: int = 5, deg: int = 4, noise: float = 0.5, **settings: Any
) -> BenchmarkProblem:
    """Load ``shortest-path``: the cheapest way from one corner of a grid to the opposite one.

    Args:
        name: ``shortest-path``.
        rows, columns: of the grid.
        features, deg, noise: of the formula; see ``polynomial_costs``.
        settings: see ``Settings``.
    """
    given = Settings(**settings)
    x, c = shortest_path_data(Formula(given.instances, features, deg, noise, given.seed), rows, columns)
    oracle = partial(ShortestPathOracle, rows, columns)
    return given.load(name, given.problem(shortest_path_milp(rows, columns), "min", oracle), x, c)
