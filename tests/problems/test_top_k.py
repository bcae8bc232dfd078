from __future__ import annotations

from itertools import combinations

import pytest
import torch

from regretless import MILP, Problem
from regretless.errors import InputError
from regretless.problems import load
from regretless.problems.top_k import TopKOracle


def test_no_other_choice_is_better_and_highs_agrees():
    costs = torch.randn(20, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    solution = TopKOracle(3).solve(costs).solution
    best = torch.stack([costs[:, list(s)].sum(1) for s in combinations(range(7), 3)]).min(0).values
    torch.testing.assert_close((costs * solution).sum(1), best)
    milp = MILP([[1.0] * 7], row_lower=3.0, row_upper=3.0)
    torch.testing.assert_close(Problem(milp).solve(costs).objective, best)


def test_of_equal_items_the_first_are_chosen():
    assert TopKOracle(2).solve(torch.zeros(1, 4)).solution.tolist() == [[1.0, 1.0, 0.0, 0.0]]


def test_values_are_a_cubic_of_the_feature_of_each_item():
    loaded = load("top-k", train=10, test=5)
    assert (loaded.train.features.shape, loaded.train.costs.shape) == ((10, 50, 1), (10, 50))
    x = loaded.train.features[:, :, 0].double()
    assert x.abs().max() <= 1.0
    torch.testing.assert_close(loaded.train.costs, 10 * (x**3 - 0.65 * x), rtol=0, atol=1e-5)
    assert (loaded.train.solutions.sum(1) == 2).all()
    assert loaded.problem.sense == "max"


def test_one_linear_function_is_shared_by_all_items():
    loaded = load("top-k", items=5, train=2, test=1)
    assert sum(weights.numel() for weights in loaded.model(0).parameters()) == 2


@pytest.mark.parametrize(
    ("options", "message"), [({"k": 51}, "at most the number of items, 50"), ({"k": 0}, "k must be")]
)
def test_a_k_that_cannot_be_chosen_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        load("top-k", **options)
