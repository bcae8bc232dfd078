"""Load the workshop by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.problems.generated_problem import Settings
from regretless.problems.knapsack.synthetic import standardized
from regretless.problems.polynomial_costs import check_counts
from regretless.problems.seeded_models import shared_linear
from regretless.problems.workshop.formulation import HOURS, Order, random_orders, workshop_milp
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

    Raises:
        InputError: an order, or all steps on one machine, need more than 24 hours.
    """
    check_counts(orders=orders, machines=machines)
    given = Settings(train=train, test=test, seed=seed, engine=engine, **settings)
    work = random_orders(orders, machines, seed=seed)
    _refuse_too_long(work)
    features, prices = hourly_prices(given.instances, noise=noise, seed=seed)
    problem = given.problem(workshop_milp(work), "min")
    model = shared_linear(features.shape[-1])
    loaded = given.load(name, problem, standardized(features, train), prices, model)
    return replace(loaded, batch_size=BATCH_SIZE)


def _refuse_too_long(orders: list[Order]) -> None:
    """Refuse orders and machines that need more hours than a day has."""
    longest = max(sum(step.hours for step in order) for order in orders)
    busy: dict[int, int] = {}
    for step in (step for order in orders for step in order):
        busy[step.machine] = busy.get(step.machine, 0) + step.hours
    for what, hours, remedy in (("an order", longest, "machines"), ("a machine", max(busy.values()), "orders")):
        if hours > HOURS:
            raise InputError(f"{what} needs {hours} hours, and a day has {HOURS}: use fewer {remedy}")
