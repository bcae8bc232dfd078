from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regretless.problems.travelling_salesman.subtours import components, violated_sets


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
