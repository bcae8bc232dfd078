from __future__ import annotations

import itertools
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless import Problem
from regretless.errors import InputError
from regretless.problems import load
from regretless.problems.complete_graph import graph_edges, routes, routes_milp
from regretless.problems.travelling_salesman import SubtourRelaxation, TourOracle, components, violated_sets
from regretless.solvers.highs import ProgramError
from regretless.types import Status


def cut(weights, inside):
    return weights[np.ix_(inside, ~inside)].sum()


@given(st.integers(0, 10**6), st.integers(4, 8))
def test_a_violated_set_is_found_where_there_is_one(seed, n):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6) * 1.5, 1)
    weights += weights.T
    found = violated_sets(weights)
    assert all(cut(weights, inside) < 2.0 for inside in found)
    every = [np.isin(np.arange(n), s) for size in range(1, n) for s in combinations(range(n), size)]
    assert bool(found) == (min(cut(weights, inside) for inside in every) < 2.0 - 1e-6)


def test_a_tour_violates_nothing_and_two_circles_do():
    tour = np.zeros((6, 6))
    for a, b in [(0, 3), (3, 1), (1, 5), (5, 2), (2, 4), (4, 0)]:
        tour[a, b] = tour[b, a] = 1.0
    assert violated_sets(tour) == []
    circles = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    assert [inside.tolist() for inside in violated_sets(circles)] == [[True] * 3 + [False] * 3]


def test_components_are_told_apart():
    linked = np.zeros((4, 4), dtype=bool)
    linked[0, 2] = linked[2, 0] = True
    assert [part.nonzero()[0].tolist() for part in components(linked)] == [[0, 2], [1], [3]]


def free(d):
    return np.zeros(d), np.ones(d)


def test_the_minimum_violates_no_set_and_bounds_every_tour():
    rng, edges = np.random.default_rng(0), graph_edges(9)
    relaxation = SubtourRelaxation(9)
    for _ in range(10):
        costs = rng.random(len(edges))
        relaxation.start(costs)
        x, length = relaxation.minimum(*free(len(edges)), np.inf)
        weights = np.zeros((9, 9))
        weights[edges[:, 0], edges[:, 1]] = x
        assert violated_sets(weights + weights.T) == []
        order = [0, *rng.permutation(np.arange(1, 9)).tolist(), 0]
        tour = [tuple(sorted(pair)) for pair in itertools.pairwise(order)]
        assert length <= sum(costs[edges.tolist().index(list(pair))] for pair in tour) + 1e-9


def test_an_instance_does_not_depend_on_those_before():
    rng = np.random.default_rng(1)
    first, second = rng.random(45), rng.random(45)
    fresh, used = SubtourRelaxation(10), SubtourRelaxation(10)
    used.start(first)
    used.minimum(*free(45), np.inf)
    for relaxation in (fresh, used):
        relaxation.start(second)
    assert np.array_equal(fresh.minimum(*free(45), np.inf)[0], used.minimum(*free(45), np.inf)[0])


def test_bounds_on_edges_are_kept_and_a_value_stops_the_search():
    relaxation = SubtourRelaxation(5)
    relaxation.start(np.ones(10))
    lower, upper = free(10)
    lower[0], upper[1:4] = 1.0, 0.0  # node 0 has one edge left: no degree of 2
    assert relaxation.minimum(lower, upper, np.inf) == (None, np.inf)
    assert relaxation.minimum(*free(10), 4.9)[0] is None  # a tour has length 5


def test_a_failure_of_highs_is_not_taken_for_a_branch_without_a_tour():
    relaxation = SubtourRelaxation(6)
    relaxation._highs.setOptionValue("simplex_iteration_limit", 0)
    relaxation.start(np.random.default_rng(0).random(15))
    with pytest.raises(ProgramError, match="HiGHS ended a linear program with 'Iteration limit reached'"):
        relaxation.minimum(*free(15), np.inf)


def all_tours(n):
    number = {tuple(edge): k for k, edge in enumerate(graph_edges(n).tolist())}
    for order in permutations(range(1, n)):
        if order[0] <= order[-1]:
            way, tour = (0, *order, 0), np.zeros(len(number))
            for pair in pairwise(way):
                tour[number[min(pair), max(pair)]] = 1.0
            yield tour


@given(st.integers(0, 10**6), st.integers(3, 7), st.booleans())
def test_no_tour_is_shorter(seed, nodes, ties):
    rng = np.random.default_rng(seed)
    shape = (3, nodes * (nodes - 1) // 2)
    costs = torch.as_tensor(rng.integers(0, 3, shape) / 1.0 if ties else rng.normal(size=shape))
    solved = TourOracle(nodes).solve(costs)
    best = (costs @ torch.as_tensor(np.stack(list(all_tours(nodes)))).T).min(1).values
    torch.testing.assert_close((costs * solved.solution).sum(1), best)
    assert all(len(routes(solution, nodes)) == 1 for solution in solved.solution)
    assert solved.status is None


@pytest.mark.parametrize("large", [1e6, 1e9])
def test_small_differences_count_beside_large_costs(large):
    rng = np.random.default_rng(0)
    costs = np.where(rng.random((60, 21)) < 0.15, large, rng.random((60, 21)))  # forbidden edges
    nearly_equal = 1e6 + rng.random((60, 21))
    tours = np.stack(list(all_tours(7)))
    for given_costs in (costs, nearly_equal):
        found = TourOracle(7).solve(torch.as_tensor(given_costs)).solution.numpy()
        np.testing.assert_allclose((given_costs * found).sum(1), (given_costs @ tours.T).min(1), rtol=1e-12)


def test_highs_agrees_on_the_flow_model():
    costs = np.random.default_rng(0).random((8, 36))
    milp = routes_milp(np.ones(8), 8, least=1, most=1)
    special = Problem(milp, oracle=TourOracle(9))
    torch.testing.assert_close(special.solve(costs).objective, Problem(milp).solve(costs).objective)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_tours_do_not_depend_on_the_scale_of_costs_or_on_the_batch(scale):
    oracle, costs = TourOracle(12), torch.as_tensor(np.random.default_rng(3).random((6, 66)))
    alone = torch.cat([oracle.solve(row[None] * scale).solution for row in costs.flip(0)]).flip(0)
    assert torch.equal(oracle.solve(costs).solution, alone)


def test_equal_costs_still_give_a_tour():
    assert len(routes(TourOracle(20).solve(torch.zeros(1, 190)).solution[0], 20)) == 1


def test_a_time_limit_ends_the_search_with_an_honest_status():
    solved = TourOracle(20, time_limit=1e-9).solve(torch.rand(2, 190))
    assert solved.statuses == [Status.TIME_LIMIT] * 2
    assert not solved.found.any()
    assert torch.isinf(solved.gap).all()


def test_too_few_nodes_or_no_time_are_refused():
    with pytest.raises(InputError, match="nodes must be an integer, at least 3"):
        TourOracle(2)
    with pytest.raises(InputError, match="time_limit must be positive"):
        TourOracle(5, time_limit=0.0)


def test_standard_setting_has_20_nodes_and_10_features():
    loaded = load("travelling-salesman", train=5, test=2)
    assert (loaded.train.costs.shape, loaded.train.features.shape) == ((5, 190), (5, 10))
    assert all(len(routes(solution, 20)) == 1 for solution in loaded.train.solutions)
    assert loaded.problem.sense == "min"


def test_the_flow_model_gives_the_same_optimal_values():
    special, general = (load("travelling-salesman", nodes=7, train=5, test=1, engine=e) for e in ("oracle", "highs"))
    torch.testing.assert_close(
        (special.train.costs * special.train.solutions).sum(1), (general.train.costs * general.train.solutions).sum(1)
    )
