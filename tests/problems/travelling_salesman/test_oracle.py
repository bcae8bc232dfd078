from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless import Problem
from regretless.errors import InputError
from regretless.problems.complete_graph import graph_edges, routes, routes_milp
from regretless.problems.travelling_salesman import TourOracle
from regretless.types import Status


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
    costs = np.random.default_rng(0).random((20, 36))
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
