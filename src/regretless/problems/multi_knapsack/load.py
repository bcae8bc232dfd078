"""The knapsack with several rows by name, with values from a formula."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import MILP, Floats
from regretless.problems.generated_problem import Sizes, exact_problem, generated_problem
from regretless.problems.multi_knapsack.oracle import MultiKnapsackOracle
from regretless.problems.polynomial_costs import Costs, check_counts, check_level, polynomial_costs, random


def multi_knapsack_data(
    instances: int,
    *,
    items: int = 32,
    rows: int = 2,
    features: int = 5,
    deg: int = 4,
    noise: float = 0.5,
    seed: int = 135,
) -> tuple[Floats, Floats, Costs]:
    """Weights ``(rows, items)`` from 3.00, 3.01 ... 7.99, features ``(n, p)``, and values ``(n, items)``.

    A value is 5 times the cost of ``polynomial_costs``, rounded up.
    """
    check_counts(items=items, rows=rows)
    rng = random(seed)
    weights = rng.choice(range(300, 800), size=(rows, items)) / 100
    x, c = polynomial_costs(rng, instances=instances, costs=items, features=features, deg=deg, noise=noise, factor=5)
    return weights, x, np.ceil(c).astype(np.float32)


def load_multi_knapsack(
    name: str,
    *,
    items: int = 32,
    rows: int = 2,
    capacity: float = 20.0,
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
    """Load ``multi-knapsack``: the most valuable items within several capacities.

    Args:
        name: ``multi-knapsack``.
        items: number of items.
        rows: number of capacities.
        capacity: of every row.
        features, deg, noise: of the formula; see ``polynomial_costs``.
        train, test, validation, split_seed: of the parts; see ``Sizes``.
        seed: of the data.
        engine: ``oracle`` lists all selections, up to a million of them; or an engine for the model.
        workers: threads, for engines.
        time_limit: seconds for one solve, for engines.
        store: folder that keeps true optima.
    """
    check_level(capacity=capacity)
    sizes = Sizes(train, test, validation, split_seed)
    weights, x, c = multi_knapsack_data(
        sizes.total, items=items, rows=rows, features=features, deg=deg, noise=noise, seed=seed
    )
    problem = exact_problem(
        MILP(weights, row_upper=float(capacity)),
        partial(MultiKnapsackOracle, weights, np.full(rows, float(capacity))),
        sense="max",
        engine=engine,
        workers=workers,
        time_limit=time_limit,
    )
    return generated_problem(name, problem, x, c, sizes, store=store)
