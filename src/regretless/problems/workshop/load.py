"""Load the workshop by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from regretless.benchmark_problem import BenchmarkProblem
from regretless.problems.generated_problem import Settings
from regretless.problems.knapsack.synthetic import standardized
from regretless.problems.polynomial_costs import check_counts
from regretless.problems.seeded_models import shared_linear
from regretless.problems.workshop.formulation import random_orders, workshop_milp
from regretless.problems.workshop.prices import hourly_prices

BATCH_SIZE = 24


def load_workshop(
    name: str,
    *,
    orders: int = 4,
    machines: int = 2,
    noise: float = 1.0,
    train: int = 96,
    test: int = 60,
    seed: int = 0,
    engine: str = "highs",
    **settings: Any,
) -> BenchmarkProblem:
    """Load ``workshop``: schedule orders by predicted hourly prices, a general MILP without an oracle of its own.

    Args:
        name: ``workshop``.
        orders: number of orders per day; each visits every machine once.
        machines: number of machines.
        noise: of the prices; see ``hourly_prices``.
        train, test: number of days of these parts.
        seed: of the orders and the prices.
        engine: that solves the model.
        settings: see ``Settings``.
    """
    check_counts(orders=orders, machines=machines)
    given = Settings(train=train, test=test, seed=seed, engine=engine, **settings)
    features, prices = hourly_prices(given.instances, noise=noise, seed=seed)
    problem = given.problem(workshop_milp(random_orders(orders, machines, seed=seed)), "min")
    model = shared_linear(features.shape[-1])
    loaded = given.load(name, problem, standardized(features, train), prices, model)
    return replace(loaded, batch_size=BATCH_SIZE)
