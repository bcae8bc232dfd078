from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.problems import load
from regretless.problems.multi_knapsack.load import multi_knapsack_data
from regretless.problems.polynomial_costs import Formula


def test_data_are_those_of_pyepo_for_the_same_seed():
    weights, _, values = multi_knapsack_data(Formula(instances=2, features=3, deg=2, noise=0.5, seed=135), 4, 2)
    assert weights.tolist() == [[4.59, 4.87, 5.19, 7.59], [6.8, 4.97, 4.84, 3.22]]
    assert values.tolist() == [[3.0, 6.0, 5.0, 8.0], [9.0, 4.0, 5.0, 10.0]]


def test_standard_setting_has_32_items_and_two_capacities_of_20():
    loaded = load("multi-knapsack", train=5, test=5)
    assert (loaded.problem.sense, loaded.problem.dimension) == ("max", 32)
    assert loaded.problem.model.row_upper.tolist() == [20.0, 20.0]
    assert (loaded.train.solutions.numpy() @ loaded.problem.model.A.toarray().T <= 20.0 + 1e-9).all()
    assert np.array_equal(loaded.train.costs, loaded.train.costs.round())


def test_a_capacity_that_holds_too_many_selections_is_left_to_an_engine():
    with pytest.raises(InputError, match="engine='highs'"):
        load("multi-knapsack", capacity=60.0, train=1, test=1)
    assert load("multi-knapsack", capacity=60.0, train=1, test=1, engine="highs").train.not_optimal == 0


def test_a_negative_capacity_is_refused():
    with pytest.raises(InputError, match="capacity must be a finite number, at least 0"):
        load("multi-knapsack", capacity=-1.0)
