from __future__ import annotations

import pytest
import torch

from regretless.cache import lookup
from regretless.cache.store_lookup import StoreLookup
from regretless.errors import InputError

COLUMNS = torch.randn(5, 40, generator=torch.Generator().manual_seed(0))
COSTS = torch.randn(7, 5, generator=torch.Generator().manual_seed(1))


def test_few_scores_and_blocks_of_many_give_the_first_smallest_score(monkeypatch):
    expected = (COSTS @ COLUMNS).argmin(dim=1)
    assert torch.equal(StoreLookup().best(COLUMNS, COSTS), expected)
    monkeypatch.setattr(lookup, "BLOCK_SCORES", 16)
    assert torch.equal(StoreLookup().best(COLUMNS, COSTS), expected)


def test_a_change_of_the_solutions_is_followed():
    search, columns = StoreLookup(), torch.eye(2)
    costs = torch.tensor([[1.0, 2.0]])
    assert search.best(columns, costs).tolist() == [0]
    grown = torch.cat([columns, torch.tensor([[-5.0], [0.0]])], dim=1)
    search.insert(grown.T[2:], slice(2, 3), 3)
    assert search.best(grown, costs).tolist() == [2]


def test_an_instance_gets_only_what_serves_it_and_one_without_a_solution_is_named():
    serves = torch.zeros(2, 40, dtype=torch.bool)
    serves[0, 11:13] = True
    found = StoreLookup().best(COLUMNS, COSTS, serves, torch.zeros(7, dtype=torch.int64))
    assert torch.equal(found, 11 + (COSTS @ COLUMNS[:, 11:13]).argmin(dim=1))
    with pytest.raises(InputError, match="no solution that is feasible for instance 1: add its optimum first"):
        StoreLookup().best(COLUMNS, COSTS, serves, torch.tensor([0, 0, 1, 0, 0, 0, 0]))


def test_any_objective_can_be_minimized():
    found = StoreLookup().best(COLUMNS, COSTS, objective=lambda rows, costs: ((rows - costs) ** 2).sum(dim=-1))
    assert torch.equal(found, torch.cdist(COSTS, COLUMNS.T).argmin(dim=1))
