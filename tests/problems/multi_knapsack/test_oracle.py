from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless import MILP, Problem
from regretless.problems.multi_knapsack import MultiKnapsackOracle
from regretless.problems.multi_knapsack import oracle as module


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
