from __future__ import annotations

import itertools

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.problems.complete_graph import edge_costs, graph_edges, routes, routes_milp
from regretless.problems.polynomial_costs import Formula
from regretless.solvers.highs import HighsEngine

EDGE = {tuple(edge): k for k, edge in enumerate(graph_edges(5).tolist())}


def chosen(*ways):
    solution = np.zeros(10)
    for way in ways:
        for a, b in itertools.pairwise(way):
            solution[EDGE[min(a, b), max(a, b)]] += 1
    return solution


def test_costs_are_those_of_pyepo_for_the_same_seed():
    places, x, c = edge_costs(Formula(instances=2, features=3, deg=2, noise=0.5, seed=135), 4)
    assert (places.shape, c.dtype) == ((4, 2), np.float32)
    np.testing.assert_allclose(x[0], [-0.57813187, 0.10821255, 0.1696078], rtol=1e-6)
    np.testing.assert_allclose(c[1], [7.5679, 4.045, 14.0606, 4.0562, 6.3284, 3.8634], rtol=1e-6)


def test_routes_are_followed_from_and_to_node_0():
    assert routes(chosen([0, 2, 1, 0], [0, 3, 4, 0]), 5) == [[0, 2, 1, 0][::-1], [0, 3, 4, 0]]
    assert len(routes(chosen([0, 1, 2, 3, 4, 0]), 5)) == 1


@pytest.mark.parametrize(
    "solution",
    [chosen([0, 1, 2, 0]), chosen([0, 1, 0]), chosen([1, 2, 3, 4, 1]), chosen([0, 1, 0], [2, 3, 4, 2]), np.zeros(10)],
)
def test_edges_that_leave_a_node_out_or_alone_are_no_routes(solution):
    with pytest.raises(InputError, match="no routes"):
        routes(solution, 5)


@pytest.mark.parametrize(("least", "most"), [(1, 1), (2, 2), (1, 2)])
def test_the_model_of_routes_holds_exactly_the_routes_that_fit(least, most):
    demands = np.array([1.0, 2.0, 3.0, 1.0])
    capacity = 7.0 if most == 1 else 4.0
    milp = routes_milp(demands, capacity, least=least, most=most)
    engine, rng = HighsEngine(milp), np.random.default_rng(0)
    for _ in range(10):
        costs = rng.normal(size=10)
        found = milp.solution(engine.solve(milp.objective(costs[None])[0]).x)[0].round(9)
        ways = routes(found, 5)
        assert least <= len(ways) <= most
        assert all(sum(demands[node - 1] for node in way if node) <= capacity for way in ways)
        assert set(found.tolist()) <= {0.0, 1.0}


def test_too_few_nodes_are_refused():
    with pytest.raises(InputError, match="nodes must be an integer, at least 3"):
        edge_costs(Formula(instances=1, features=2, deg=1, noise=0.0, seed=0), 2)
