from __future__ import annotations

import itertools

import numpy as np

import regretless as rl
from regretless.problems.workshop.formulation import HOURS, Order, Step, random_orders, workshop_milp


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
