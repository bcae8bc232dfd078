"""The travelling salesman by name, with costs from a formula."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.problems.complete_graph import edge_costs, routes_milp
from regretless.problems.generated_problem import Sizes, exact_problem, generated_problem
from regretless.problems.travelling_salesman.oracle import TourOracle


def load_travelling_salesman(
    name: str,
    *,
    nodes: int = 20,
    features: int = 10,
    deg: int = 4,
    noise: float = 0.5,
    train: int = 1000,
    test: int = 1000,
    validation: int = 0,
    split_seed: int | None = None,
    seed: int = 135,
    engine: str = "oracle",
    workers: int = 1,
    time_limit: float | None = None,
    store: Path | str | None = None,
) -> BenchmarkProblem:
    """Load ``travelling-salesman``: the shortest tour through all nodes; costs belong to undirected edges.

    Args:
        name: ``travelling-salesman``.
        nodes: number of nodes.
        features, deg, noise: of the formula; see ``distance_costs``.
        train, test, validation, split_seed: of the parts; see ``Sizes``.
        seed: of the data.
        engine: ``oracle``, or an engine for the model.
        workers: threads, for engines.
        time_limit: seconds for one solve.
        store: folder that keeps true optima.
    """
    sizes = Sizes(train, test, validation, split_seed)
    _, x, c = edge_costs(sizes.total, nodes=nodes, features=features, deg=deg, noise=noise, seed=seed)
    problem = exact_problem(
        routes_milp(np.ones(nodes - 1), nodes - 1, least=1, most=1),
        partial(TourOracle, nodes, time_limit=time_limit),
        sense="min",
        engine=engine,
        workers=workers,
        time_limit=time_limit,
    )
    return generated_problem(name, problem, x, c, sizes, store=store)
