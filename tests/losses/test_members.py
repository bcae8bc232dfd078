from __future__ import annotations

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses.members import members

from .tiny import KINDS, batch, cache


def test_the_mask_says_what_is_feasible_for_each_instance_of_the_batch():
    kind = KINDS["family"]
    b = batch(kind)
    rows, serves = members(cache(kind.problem(), b), b.predicted, b.instance)
    for i, instance in enumerate(b.instance.tolist()):
        feasible = {tuple(point) for point in kind.points(instance).tolist()}
        assert serves[i].tolist() == [tuple(row) in feasible for row in rows.tolist()]
    assert not serves.all()


def test_without_a_family_there_is_no_mask_and_rows_have_the_precision_of_the_prediction():
    kind = KINDS["plain"]
    b = batch(kind)
    rows, serves = members(cache(kind.problem(), b), b.predicted.float(), None)
    assert serves is None
    assert rows.dtype == torch.float32


def test_an_empty_cache_and_an_instance_without_solution_are_named():
    kind = KINDS["family"]
    b = batch(kind)
    memory = SolutionCache(kind.problem(), dtype=torch.float64)
    with pytest.raises(InputError, match="the cache is empty"):
        members(memory, b.predicted, b.instance)
    # The knapsack of limit 9 takes a set that the two smaller ones cannot.
    memory.add(torch.tensor([[0.0, 1.0, 1.0, 0.0]], dtype=torch.float64), instance=[2])
    with pytest.raises(InputError, match="no solution that is feasible for instance 1: add its optimum"):
        members(memory, b.predicted[:1], torch.tensor([1]))
