"""The travelling salesman by name, with costs from a formula."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.problems.complete_graph import edge_costs, routes_milp
from regretless.problems.generated_problem import Settings
from regretless.problems.polynomial_costs import Formula
from regretless.problems.travelling_salesman.oracle import TourOracle


def load_travelling_salesman(
    name: str, *, nodes: int = 20, features: int = 10, deg: int = 4, noise: float = 0.5, **settings: Any
) -> BenchmarkProblem:
    """Load ``travelling-salesman``: the shortest tour through all nodes; costs belong to undirected edges.

    Args:
        name: ``travelling-salesman``.
        nodes: number of nodes.
        features, deg, noise: of the formula; see ``distance_costs``.
        settings: see ``Settings``.
    """
    given = Settings(**settings)
    _, x, c = edge_costs(Formula(given.instances, features, deg, noise, given.seed), nodes)
    model = routes_milp(np.ones(nodes - 1), nodes - 1, least=1, most=1)
    problem = given.problem(model, "min", partial(TourOracle, nodes, time_limit=given.time_limit))
    return given.load(name, problem, x, c)
