from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from regretless.problems.complete_graph import graph_edges
from regretless.problems.vehicle_routing.route_lengths import RouteLengths


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
