from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.problems.knapsack.bound import KnapsackBound
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.solvers import EnginePool


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(0, 30), st.integers(0, 1000))
def test_it_is_the_linear_relaxation_and_never_exceeds_the_optimum(weights, capacity, seed):
    costs = torch.from_numpy(np.random.default_rng(seed).normal(size=(3, len(weights))))
    bound = KnapsackBound(weights, capacity)(costs, None)
    problem = knapsack_problem(weights, capacity)
    relaxed = EnginePool(problem.model.relax()).solve(costs).solution
    assert bound.tolist() == pytest.approx((relaxed * costs).sum(dim=1).tolist(), abs=1e-7)
    assert (bound <= (problem(costs) * costs).sum(dim=1) + 1e-9).all()


def test_the_problem_has_the_bound_with_every_solver():
    for engine in ("oracle", "highs"):
        assert isinstance(knapsack_problem([3, 4], 5, engine=engine).bound, KnapsackBound)
