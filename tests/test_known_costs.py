from __future__ import annotations

import pytest
import torch

from regretless.family import Family
from regretless.known_costs import KnownCosts
from regretless.milp import MILP

MODEL = MILP([[1.0, 1.0]], row_upper=1.0)
FAMILY = Family.vary(MODEL, fixed_cost=[[0.0, 0.0], [2.0, 5.0]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_member_adds_its_own_costs_in_the_precision_of_the_given_ones(dtype: torch.dtype) -> None:
    found = KnownCosts(FAMILY).add(torch.tensor([[1.0, 1.0], [1.0, 1.0]], dtype=dtype), torch.tensor([1, 0]))
    assert found.tolist() == [[3.0, 6.0], [1.0, 1.0]]
    assert found.dtype is dtype


def test_gradients_go_through_unchanged() -> None:
    costs = torch.ones(1, 2, requires_grad=True)
    KnownCosts(FAMILY).add(costs, torch.tensor([1])).sum().backward()
    assert costs.grad is not None
    assert costs.grad.tolist() == [[1.0, 1.0]]


def test_members_that_join_later_are_known() -> None:
    growing = Family.vary(MODEL, fixed_cost=[[1.0, 0.0]])
    known = KnownCosts(growing)
    known.add(torch.zeros(1, 2), torch.tensor([0]))
    growing.add(fixed_cost=[[7.0, 8.0]])
    assert known.add(torch.zeros(1, 2), torch.tensor([1])).tolist() == [[7.0, 8.0]]
