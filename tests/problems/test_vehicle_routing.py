from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
import torch

from regretless import Problem
from regretless.errors import InputError
from regretless.problems import load
from regretless.problems.complete_graph import graph_edges, routes, routes_milp
from regretless.problems.vehicle_routing import RouteLengths, RoutingOracle, customer_demands, fewest_vehicles
from regretless.types import Status


def test_every_route_is_the_shortest_through_its_set_and_costs_what_its_edges_cost():
    rng = np.random.default_rng(0)
    demands = rng.random(6) * 10
    lengths = RouteLengths(demands, 20.0)
    edge = {tuple(pair): k for k, pair in enumerate(graph_edges(7).tolist())}
    costs = rng.normal(size=21)
    found, ways = lengths(costs)
    assert len(found) == lengths.customers.shape[1] > 20
    for number, length in enumerate(found):
        members = (lengths.customers[:, number].nonzero()[0] + 1).tolist()
        assert len(members) >= 2
        assert demands[np.array(members) - 1].sum() <= 20.0
        tours = ((0, *order, 0) for order in permutations(members))
        best = min(sum(costs[edge[min(p), max(p)]] for p in pairwise(way)) for way in tours)
        route = lengths.route(number, costs, ways)
        assert length == pytest.approx(best)
        assert costs[route].sum() == pytest.approx(best)
        nodes, counts = np.unique(graph_edges(7)[route], return_counts=True)
        assert nodes.tolist() == [0, *members]
        assert set(counts.tolist()) == {2}


def test_customers_that_fit_no_vehicle_together_have_no_routes():
    assert RouteLengths(np.array([6.0, 7.0, 8.0]), 10.0).customers.shape == (3, 0)


DEMANDS = np.array([3.0, 4.0, 2.0, 5.0, 1.0, 4.0])


def partitions(items):
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for chosen in range(2 ** len(rest)):
        part = [first, *(x for k, x in enumerate(rest) if chosen >> k & 1)]
        for others in partitions([x for k, x in enumerate(rest) if not chosen >> k & 1]):
            yield [part, *others]


def brute_force(costs, demands, capacity, vehicles):
    edge = {tuple(pair): k for k, pair in enumerate(graph_edges(len(demands) + 1).tolist())}

    def shortest(part):
        ways = ((0, *order, 0) for order in permutations(part))
        return min(sum(costs[edge[min(p), max(p)]] for p in pairwise(way)) for way in ways)

    known: dict[tuple[int, ...], float] = {}
    best = np.inf
    for parts in partitions(list(range(1, len(demands) + 1))):
        fits = len(parts) <= vehicles and all(len(p) > 1 and sum(demands[i - 1] for i in p) <= capacity for p in parts)
        if fits:
            best = min(best, sum(known.setdefault(tuple(p), shortest(p)) for p in parts))
    return best


@pytest.mark.parametrize(("capacity", "vehicles"), [(8.0, 3), (10.0, 2), (10.0, 3), (19.0, 2)])
def test_no_routes_are_shorter(capacity, vehicles):
    rng = np.random.default_rng(0)
    costs = np.concatenate([rng.random((4, 21)), rng.normal(size=(3, 21)), rng.integers(0, 3, (3, 21))])
    solved = RoutingOracle(DEMANDS, capacity, vehicles).solve(torch.as_tensor(costs))
    for row, solution in zip(costs, solved.solution.numpy(), strict=True):
        ways = routes(solution, 7)
        assert len(ways) <= vehicles
        assert all(sum(DEMANDS[node - 1] for node in way if node) <= capacity for way in ways)
        assert row @ solution == pytest.approx(brute_force(row, DEMANDS, capacity, vehicles))
    assert solved.status is None


def test_small_differences_count_beside_large_costs():
    rng = np.random.default_rng(0)
    forbidden = np.where(rng.random((20, 21)) < 0.15, 1e7, rng.random((20, 21)))
    costs = np.concatenate([forbidden, 1e7 + rng.random((20, 21))])
    found = RoutingOracle(DEMANDS, 10.0, 3).solve(torch.as_tensor(costs)).solution.numpy()
    for row, solution in zip(costs, found, strict=True):
        assert row @ solution == pytest.approx(brute_force(row, DEMANDS, 10.0, 3), rel=1e-12)


def test_highs_agrees_on_the_flow_model():
    costs = np.random.default_rng(1).random((8, 21))
    milp = routes_milp(DEMANDS, 10.0, least=2, most=3)
    special = Problem(milp, oracle=RoutingOracle(DEMANDS, 10.0, 3))
    torch.testing.assert_close(special.solve(costs).objective, Problem(milp).solve(costs).objective)


@pytest.mark.slow
def test_the_standard_setting_is_solved_with_ties_and_without():
    oracle = RoutingOracle(customer_demands(20, 42), 30.0, 5)
    rng = np.random.default_rng(0)
    costs = np.stack([np.zeros(210), np.ones(210), rng.integers(0, 2, 210), rng.normal(size=210)])
    solved = oracle.solve(torch.as_tensor(costs))
    assert solved.status is None
    assert [len(routes(solution, 21)) >= 4 for solution in solved.solution] == [True] * 4


def test_more_candidates_are_tried_until_the_choice_is_proven(monkeypatch):
    monkeypatch.setattr("regretless.problems.vehicle_routing.FIRST_ROUTES", 1)
    costs = np.random.default_rng(2).random((10, 21))
    few = RoutingOracle(DEMANDS, 10.0, 3).solve(torch.as_tensor(costs))
    for row, solution in zip(costs, few.solution.numpy(), strict=True):
        assert row @ solution == pytest.approx(brute_force(row, DEMANDS, 10.0, 3))


def test_a_time_limit_ends_with_an_honest_status():
    oracle = RoutingOracle(customer_demands(12, 42), 30.0, 5, time_limit=1e-6)
    solved = oracle.solve(torch.as_tensor(np.random.default_rng(0).random((2, 78))))
    for status, gap, found in zip(solved.statuses, solved.gap, solved.found, strict=True):
        assert status is Status.TIME_LIMIT
        assert gap > 0.0 or found


@pytest.mark.parametrize(
    ("demands", "capacity", "vehicles", "message"),
    [
        (DEMANDS, 8.0, 2, "need at least 3 vehicles of capacity 8, got 2"),
        (np.array([6.0, 6.0, 6.0]), 10.0, 3, "cannot serve the demands"),
        (np.array([6.0, -1.0]), 10.0, 3, "demands must be at least 0"),
        (DEMANDS, float("inf"), 3, "capacity positive and finite, got .* and inf"),
        (np.array([1.0]), 10.0, 1, "customers must be an integer, at least 2"),
        (DEMANDS, 10.0, 0, "vehicles must be an integer, at least 1"),
        (np.ones(20), 30.0, 1, r"more than 300000 sets.*engine='highs'"),
    ],
)
def test_fleets_that_cannot_work_are_refused(demands, capacity, vehicles, message):
    with pytest.raises(InputError, match=message):
        RoutingOracle(demands, capacity, vehicles)


def test_the_fewest_vehicles_follow_from_the_sum_of_demands():
    assert fewest_vehicles(np.array([3.0, 3.0, 3.0]), 3.0, 5) == 3
    assert fewest_vehicles(np.array([0.1, 0.2]), 0.3, 5) == 1


def test_demands_are_those_of_pyepos_notebook():
    np.testing.assert_allclose(customer_demands(20, 42)[:3], [3.74540119, 9.50714306, 7.31993942])


def test_standard_setting_is_that_of_pyepos_notebook():
    loaded = load("vehicle-routing", train=2, test=1)
    assert (loaded.train.costs.shape, loaded.train.features.shape) == ((2, 210), (2, 10))
    assert loaded.train.not_optimal == 0
    assert loaded.problem.sense == "min"


def test_the_flow_model_gives_the_same_optimal_values():
    special, general = (load("vehicle-routing", customers=5, train=4, test=1, engine=e) for e in ("oracle", "highs"))
    torch.testing.assert_close(
        (special.train.costs * special.train.solutions).sum(1), (general.train.costs * general.train.solutions).sum(1)
    )


def test_too_few_vehicles_are_refused():
    with pytest.raises(InputError, match="need at least 4 vehicles of capacity 30, got 3"):
        load("vehicle-routing", vehicles=3)
