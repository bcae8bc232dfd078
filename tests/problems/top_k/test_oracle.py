from __future__ import annotations

from itertools import combinations

import torch

from regretless import MILP, Problem
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
