"""A workshop that schedules its orders by predicted electricity prices: every step once, one per machine and hour.

Wind and sun lower the price at any time, in proportion. Load raises it only beyond a threshold, where expensive plants
start, and then steeply. A linear model cannot follow both. Least squares fits the few expensive hours; a schedule
depends on the order of the cheap ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.modeling.linear_model import Row, stacked
from regretless.number_checks import check_integer, check_number
from regretless.problems.knapsack.synthetic import standardized, wander
from regretless.problems.polynomial_costs import check_counts
from regretless.problems.settings import Settings, shared_linear

HOURS = 24
FEATURE_NAMES = ("load forecast", "wind forecast", "solar forecast", "weekend")
MEAN, STEEP, CHEAP, THRESHOLD = 60.0, 50.0, 12.0, 1.0
BATCH_SIZE = 24


@dataclass(frozen=True)
class Step:
    """One step of an order: it occupies ``machine`` for ``hours`` and draws ``power`` megawatts."""

    machine: int
    hours: int
    power: float


Order = tuple[Step, ...]  # steps in their sequence


def random_orders(orders: int, machines: int, *, seed: int = 0) -> list[Order]:
    """Draw orders that visit every machine once, each in a sequence of its own.

    >>> sorted(step.machine for step in random_orders(1, 2)[0])
    [0, 1]
    """
    generator = np.random.default_rng(seed)
    return [
        tuple(
            Step(int(machine), int(generator.integers(1, 4)), float(generator.integers(1, 9)) / 10)
            for machine in generator.permutation(machines)
        )
        for _ in range(orders)
    ]


def workshop_milp(orders: list[Order]) -> MILP:
    """Write a day of the workshop as ``min_x c . (G x)`` over hourly prices ``c``.

    ``x_kot`` is 1 if step ``o`` of order ``k`` starts in hour ``t``. Every step starts once. In every hour a machine
    runs at most one step. A step starts after the step before it has ended: with ``d`` hours for step ``o``,
    ``sum_{s <= t} x_k,o+1,s <= sum_{s <= t - d} x_k,o,s`` for every ``t``. The cost map ``G`` sums the energy that is
    bought in every hour, so the cost space has 24 coordinates.

    >>> workshop_milp([(Step(0, 2, 0.5),)]).cost_map.shape
    (24, 23)
    """
    steps = [(k, o) for k, order in enumerate(orders) for o in range(len(order))]
    starts = {(k, o): _starts(orders[k], o) for k, o in steps}
    keys = [(k, o, t) for k, o in steps for t in starts[k, o]]
    column = {key: i for i, key in enumerate(keys)}

    rows = [Row({column[k, o, t]: 1.0 for t in starts[k, o]}, 1.0, 1.0) for k, o in steps]
    for machine in sorted({step.machine for order in orders for step in order}):
        own = [(k, o, t) for k, o, t in keys if orders[k][o].machine == machine]
        for hour in range(HOURS):
            running = {column[k, o, t]: 1.0 for k, o, t in own if t <= hour < t + orders[k][o].hours}
            rows.append(Row(running, -np.inf, 1.0))
    for k, order in enumerate(orders):
        for before, after in pairwise(range(len(order))):
            for hour in starts[k, after]:
                started = {column[k, after, t]: 1.0 for t in starts[k, after] if t <= hour}
                ended = {column[k, before, t]: -1.0 for t in starts[k, before] if t <= hour - order[before].hours}
                rows.append(Row(started | ended, -np.inf, 0.0))
    energy = np.zeros((HOURS, len(keys)))
    for k, o, t in keys:
        energy[t : t + orders[k][o].hours, column[k, o, t]] = orders[k][o].power
    A, lower, upper = stacked(rows, len(keys))
    return MILP(
        A,
        row_lower=lower,
        row_upper=upper,
        cost_map=energy,
        names=tuple(f"order{k}_step{o}_hour{t}" for k, o, t in keys),
    )


def _starts(order: Order, step: int) -> range:
    """Hours in which a step can start, so that all steps of its order fit into the day."""
    earliest = sum(one.hours for one in order[:step])
    return range(earliest, HOURS - sum(one.hours for one in order[step:]) + 1)


def hourly_prices(days: int, *, noise: float = 1.0, seed: int = 0) -> tuple[Floats, Floats]:
    """Features ``(days, 24, 4)`` and prices ``(days, 24)``, in euros per megawatt-hour.

    ``price = 60 + 50 softplus(3 (load - 1)) - 12 (wind + sun) + noise``. The features are forecasts of load, wind and
    sun (with errors), and whether the day is on a weekend.

    Args:
        days: number of days, at least 1.
        noise: standard deviation of the price around the formula.
        seed: of all random numbers.

    >>> hourly_prices(2)[0].shape
    (2, 24, 4)
    """
    check_integer("days", days, least=1)
    check_number("noise", noise, least=0)
    generator = np.random.default_rng(seed)
    shape, day, hour = (days, HOURS), np.arange(days)[:, None], np.arange(HOURS, dtype=np.float64)[None, :]
    weekend = np.broadcast_to((day % 7 >= 5).astype(float), shape)
    peaks = 0.7 * _bump(hour, 9.0, 2.5) + 1.0 * _bump(hour, 18.5, 2.2) - 0.4 * _bump(hour, 3.0, 3.0)
    load = peaks - 0.4 * weekend + 0.3 * generator.standard_normal((days, 1)) + 0.7 * wander(generator, shape, 0.8)
    wind = 0.7 * generator.standard_normal((days, 1)) + 0.9 * wander(generator, shape, 0.9)
    sun = _bump(hour, 12.5, 2.6) * np.maximum(0.0, 1.2 + 0.72 * generator.standard_normal((days, 1)))
    tight = np.logaddexp(0.0, 3.0 * (load - THRESHOLD))
    price = MEAN + STEEP * tight - CHEAP * (wind + sun) + noise * generator.standard_normal(shape)
    forecasts = [series + 0.03 * generator.standard_normal(shape) for series in (load, wind, sun)]
    return np.stack([*forecasts, weekend], axis=2), price


def _bump(hour: Floats, at: float, width: float) -> Floats:
    return np.asarray(np.exp(-0.5 * ((hour - at) / width) ** 2))


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
