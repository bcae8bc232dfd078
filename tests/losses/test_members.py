from __future__ import annotations

import pytest
import torch

from regretless import Problem
from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses.members import members

from .tiny import KINDS, batch, cache


def test_the_mask_says_what_is_feasible_for_each_instance_of_the_batch():
    kind = KINDS["family"]
    b = batch(kind)
    columns, serves = members(cache(kind.problem(), b), b.predicted, b.instance)
    for i, instance in enumerate(b.instance.tolist()):
        feasible = {tuple(point) for point in kind.points(instance).tolist()}
        assert serves[i].tolist() == [tuple(row) in feasible for row in columns.T.tolist()]
    assert not serves.all()


def test_without_a_family_there_is_no_mask_and_columns_have_the_precision_of_the_prediction():
    kind = KINDS["plain"]
    b = batch(kind)
    memory = cache(kind.problem(), b)
    columns, serves = members(memory, b.predicted.float(), None)
    assert serves is None
    assert columns.dtype == torch.float32
    assert torch.equal(columns.T, memory.solutions.float())


@pytest.mark.parametrize("capacity", [None, 2])
def test_what_other_threads_insert_before_the_backward_pass_changes_no_member(capacity):
    problem = Problem(oracle=lambda costs: costs, dimension=2)
    shared = SolutionCache(problem, torch.eye(2), capacity=capacity, dtype=torch.float64)
    predicted = torch.ones(1, 2, dtype=torch.float64, requires_grad=True)
    columns, _ = members(shared, predicted, None)
    value = (predicted @ columns).sum()
    with torch.no_grad():
        shared.store._columns.reserved[:, -1] += 0.0  # as on a GPU, where torch writes what is inserted
    shared.add(torch.tensor([[5.0, 7.0], [6.0, 8.0]]))
    value.backward()
    assert columns.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert predicted.grad.tolist() == [[1.0, 1.0]]


def test_an_instance_without_a_feasible_solution_is_named():
    kind = KINDS["family"]
    b = batch(kind)
    memory = SolutionCache(kind.problem(), dtype=torch.float64)
    # The knapsack of limit 9 takes a set that the two smaller ones cannot.
    memory.add(torch.tensor([[0.0, 1.0, 1.0, 0.0]], dtype=torch.float64), instance=[2])
    with pytest.raises(InputError, match="no solution that is feasible for instance 1: add its optimum"):
        members(memory, b.predicted[:1], torch.tensor([1]))
