from __future__ import annotations

import warnings

import pytest
import torch

from regretless.data import Dataset
from regretless.errors import RegretlessWarning
from regretless.family import Family
from regretless.known_costs import KnownCosts
from regretless.milp import MILP
from regretless.problem import Problem

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


@pytest.mark.parametrize("family", [False, True])
def test_a_constant_that_single_precision_does_not_hold_gives_a_warning(family: bool) -> None:
    milp = MILP([[1.0, 1.0]], row_upper=1.0, constant=1e7)
    problem = Problem(Family([milp]) if family else milp, sense="max")
    with pytest.warns(RegretlessWarning, match="add up to 1e\\+07, which float32 rounds by up to 1.2"):
        Dataset.solve(problem, [[0.0], [1.0]], [[1.0, 2.0], [2.0, 1.0]], instance=[0, 0] if family else None)


@pytest.mark.parametrize(("constant", "costs"), [(100.0, [1.0, 2.0]), (1e7, [1e6, 2e6]), (1e7, [-1.0, -2.0])])
def test_usual_known_costs_give_none(constant: float, costs: list[float]) -> None:
    problem = Problem(MILP([[1.0, 1.0]], row_upper=1.0, constant=constant), sense="max")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Dataset.solve(problem, [[0.0]], [costs])
