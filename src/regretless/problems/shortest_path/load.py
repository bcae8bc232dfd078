"""The shortest path by name, with costs from a formula."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import Floats
from regretless.problems.generated_problem import Sizes, exact_problem, generated_problem
from regretless.problems.polynomial_costs import Costs, polynomial_costs, random
from regretless.problems.shortest_path.formulation import grid_edges, shortest_path_milp
from regretless.problems.shortest_path.oracle import ShortestPathOracle


def shortest_path_data(
    instances: int,
    *,
    rows: int = 5,
    columns: int = 5,
    features: int = 5,
    deg: int = 4,
    noise: float = 0.5,
    seed: int = 135,
) -> tuple[Floats, Costs]:
    """Features ``(n, p)`` and edge costs ``(n, d)``; see ``polynomial_costs``."""
    x, c = polynomial_costs(
        random(seed), instances=instances, costs=len(grid_edges(rows, columns)), features=features, deg=deg, noise=noise
    )
    return x, c.astype(np.float32)


def load_shortest_path(
    name: str,
    *,
    rows: int = 5,
    columns: int = 5,
    features: int = 5,
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
    """Load ``shortest-path``: the cheapest way from one corner of a grid to the opposite one.

    Args:
        name: ``shortest-path``.
        rows, columns: of the grid.
        features: number of features.
        deg: degree of the polynomial.
        noise: half-width of the noise factor.
        train, test, validation: number of instances of each part.
        split_seed: ``None`` keeps the rows in order; see ``Sizes``.
        seed: of the data.
        engine: ``oracle``, or an engine for the model.
        workers: threads, for engines.
        time_limit: seconds for one solve, for engines.
        store: folder that keeps true optima.
    """
    sizes = Sizes(train, test, validation, split_seed)
    x, c = shortest_path_data(
        sizes.total, rows=rows, columns=columns, features=features, deg=deg, noise=noise, seed=seed
    )
    problem = exact_problem(
        shortest_path_milp(rows, columns),
        partial(ShortestPathOracle, rows, columns),
        sense="min",
        engine=engine,
        workers=workers,
        time_limit=time_limit,
    )
    return generated_problem(name, problem, x, c, sizes, store=store)
