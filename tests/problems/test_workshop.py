from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import regretless as rl
from regretless.errors import InputError
from regretless.problems.workshop import FEATURE_NAMES, HOURS, Order, Step, hourly_prices, random_orders, workshop_milp


def cheapest(orders: list[Order], prices: np.ndarray) -> float:
    """Try all starts of all steps."""
    steps = [(k, o, step) for k, order in enumerate(orders) for o, step in enumerate(order)]
    best = np.inf
    for starts in itertools.product(*(range(HOURS - step.hours + 1) for _, _, step in steps)):
        ends = {(k, o): t + step.hours for (k, o, step), t in zip(steps, starts, strict=True)}
        if any(o and t < ends[k, o - 1] for (k, o, _), t in zip(steps, starts, strict=True)):
            continue
        busy = [
            (step.machine, h) for (_, _, step), t in zip(steps, starts, strict=True) for h in range(t, t + step.hours)
        ]
        if len(set(busy)) < len(busy):
            continue
        cost = sum(step.power * prices[t : t + step.hours].sum() for (_, _, step), t in zip(steps, starts, strict=True))
        best = min(best, float(cost))
    return best


def test_the_cheapest_schedule_is_that_of_a_search_over_all_starts() -> None:
    orders = [(Step(0, 9, 0.3), Step(1, 7, 0.5)), (Step(1, 8, 0.4),)]
    problem = rl.Problem(workshop_milp(orders))
    prices = np.random.default_rng(0).normal(50, 20, (3, HOURS))
    found = problem.solve(prices).objective
    assert np.allclose(found, [cheapest(orders, day) for day in prices])


def test_an_order_whose_steps_do_not_fit_into_the_day_has_no_schedule() -> None:
    problem = rl.Problem(workshop_milp([(Step(0, 20, 1.0),), (Step(0, 5, 1.0),)]), on_failure="skip")
    assert problem.solve(np.ones((1, HOURS))).status[0] == rl.Status.INFEASIBLE


def test_the_cost_space_is_the_energy_bought_per_hour() -> None:
    problem = rl.Problem(workshop_milp([(Step(0, 2, 0.5),)]))
    prices = np.full((1, HOURS), 10.0)
    prices[0, 7:9] = 1.0
    solution = problem.solve(prices).solution[0]
    assert solution[7:9].tolist() == [0.5, 0.5]
    assert solution.sum() == 1.0


def test_orders_visit_every_machine_once_and_depend_on_the_seed() -> None:
    orders = random_orders(6, 3, seed=1)
    assert all(sorted(step.machine for step in order) == [0, 1, 2] for order in orders)
    assert orders == random_orders(6, 3, seed=1)
    assert orders != random_orders(6, 3, seed=2)


def test_same_seed_gives_the_same_prices() -> None:
    (x, price), (again, same) = hourly_prices(5, seed=3), hourly_prices(5, seed=3)
    assert x.shape == (5, 24, len(FEATURE_NAMES))
    assert np.array_equal(x, again)
    assert np.array_equal(price, same)
    assert not np.array_equal(price, hourly_prices(5, seed=4)[1])


def test_load_matters_in_expensive_hours_only_and_wind_always() -> None:
    x, price = hourly_prices(400, noise=0.0)
    load, wind = x[..., 0], x[..., 1]
    for hours, load_matters in ((load < 0.3, False), (load > 1.3, True)):
        design = np.column_stack([load[hours], wind[hours], x[..., 2][hours], np.ones(hours.sum())])
        slopes = np.linalg.lstsq(design, price[hours], rcond=None)[0]
        assert (slopes[0] > 50) == load_matters
        assert -20 < slopes[1] < -8


@pytest.mark.parametrize(("options", "message"), [({"days": 0}, "days"), ({"days": 1, "noise": -1.0}, "noise")])
def test_bad_settings_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        hourly_prices(**options)  # type: ignore[arg-type]


SMALL = {"orders": 2, "train": 6, "test": 3}


def test_the_workshop_is_a_model_solved_by_an_engine() -> None:
    loaded = rl.load("workshop", **SMALL, validation=2)
    assert (len(loaded.train), len(loaded.validation), len(loaded.test)) == (6, 2, 3)
    assert (loaded.problem.dimension, loaded.problem.sense, loaded.name) == (24, "min", "workshop")
    assert loaded.model(0)(loaded.train.features).shape == (6, 24)
    assert loaded.train.not_optimal == 0


def test_only_training_days_set_the_scale_of_the_features() -> None:
    loaded = rl.load("workshop", **SMALL)
    seen = loaded.train.features.reshape(-1, 4)
    assert torch.allclose(seen.mean(dim=0), torch.zeros(4, dtype=seen.dtype), atol=1e-6)


def test_orders_and_machines_must_be_counts() -> None:
    with pytest.raises(InputError, match="orders must be an integer, at least 1"):
        rl.load("workshop", orders=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"machines": 30}, "an order needs .* hours, and a day has 24: use fewer machines"),
        ({"orders": 30}, "a machine needs .* hours, and a day has 24: use fewer orders"),
    ],
)
def test_work_for_more_than_a_day_is_refused(options: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rl.load("workshop", **options)
