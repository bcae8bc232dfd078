"""The knapsack with several rows by name, with values from a formula."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import MILP, Floats
from regretless.number_checks import check_number
from regretless.problems.generated_problem import Settings
from regretless.problems.multi_knapsack.oracle import MultiKnapsackOracle
from regretless.problems.polynomial_costs import Costs, Formula, check_counts, polynomial_costs


def multi_knapsack_data(formula: Formula, items: int, rows: int) -> tuple[Floats, Floats, Costs]:
    """Weights ``(rows, items)`` from 3.00, 3.01 ... 7.99, features ``(n, p)``, and values ``(n, items)``.

    A value is 5 times the cost of ``polynomial_costs``, rounded up.
    """
    check_counts(items=items, rows=rows)
    rng = formula.random()
    weights = rng.choice(range(300, 800), size=(rows, items)) / 100
    x, c = polynomial_costs(rng, formula, items, factor=5)
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
    **settings: Any,
) -> BenchmarkProblem:
    """Load ``multi-knapsack``: the most valuable items within several capacities.

    Args:
        name: ``multi-knapsack``.
        items: number of items.
        rows: number of capacities.
        capacity: of every row. The oracle lists all selections, up to a million of them; engines have no such limit.
        features, deg, noise: of the formula; see ``polynomial_costs``.
        settings: see ``Settings``.
    """
    check_number("capacity", capacity, least=0)
    given = Settings(**settings)
    weights, x, c = multi_knapsack_data(Formula(given.instances, features, deg, noise, given.seed), items, rows)
    oracle = partial(MultiKnapsackOracle, weights, np.full(rows, float(capacity)))
    return given.load(name, given.problem(MILP(weights, row_upper=float(capacity)), "max", oracle), x, c)
