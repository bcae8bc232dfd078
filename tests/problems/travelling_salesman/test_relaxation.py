from __future__ import annotations

import itertools

import numpy as np
import pytest

from regretless.problems.complete_graph import graph_edges
from regretless.problems.travelling_salesman.relaxation import SubtourRelaxation
from regretless.problems.travelling_salesman.subtours import violated_sets
from regretless.solvers.highs import ProgramError


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
