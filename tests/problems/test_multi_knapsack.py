from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless import MILP, Problem
from regretless.errors import InputError
from regretless.problems import load
from regretless.problems import multi_knapsack as module
from regretless.problems.multi_knapsack import MultiKnapsackOracle, multi_knapsack_data
from regretless.problems.polynomial_costs import Formula


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 3))
def test_no_selection_is_worth_more(seed, items, rows):
    rng = np.random.default_rng(seed)
    weights, capacities = rng.integers(1, 9, (rows, items)) / 1.0, rng.integers(0, 20, rows) / 1.0
    costs = torch.as_tensor(rng.normal(size=(5, items)))  # of both signs
    solution = MultiKnapsackOracle(weights, capacities).solve(costs).solution
    every = (np.arange(2**items)[:, None] >> np.arange(items)) & 1
    fits = (every @ weights.T <= capacities).all(axis=1)
    best = (costs.numpy() @ every[fits].T).min(axis=1)
    np.testing.assert_allclose((costs * solution).sum(1), best, atol=1e-12)
    assert (solution.numpy() @ weights.T <= capacities).all()


def test_highs_agrees_in_the_standard_setting():
    rng = np.random.default_rng(0)
    weights = rng.integers(300, 800, (2, 32)) / 100
    milp = MILP(weights, row_upper=20.0)
    values = rng.integers(-3, 20, (20, 32)) / 1.0
    special = Problem(milp, oracle=MultiKnapsackOracle(weights, np.full(2, 20.0)), sense="max")
    torch.testing.assert_close(special.solve(values).objective, Problem(milp, sense="max").solve(values).objective)


def test_items_of_no_value_are_left_out():
    oracle = MultiKnapsackOracle(np.ones((1, 3)), np.array([3.0]))
    assert oracle.solve(torch.tensor([[-1.0, 0.0, 2.0]])).solution.tolist() == [[1.0, 0.0, 0.0]]


def test_large_batches_are_solved_in_blocks(monkeypatch):
    oracle, costs = MultiKnapsackOracle(np.ones((1, 6)), np.array([3.0])), -torch.rand(10, 6)
    whole = oracle.solve(costs).solution
    monkeypatch.setattr(module, "BLOCK_VALUES", 40)  # two instances at a time
    assert torch.equal(oracle.solve(costs).solution, whole)


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
