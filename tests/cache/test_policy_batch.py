from __future__ import annotations

import numpy as np
import torch

from regretless.cache.policy_batch import Batch

AT = [torch.zeros(2, 3)]
QUERIES = [torch.tensor([[1.0, 0, 0], [4.0, 0, 0]]), torch.tensor([[2.0, 0, 0], [3.0, 0, 0]])]


def view(calls: list[torch.Tensor], found=lambda costs: costs[:, 0].double().numpy()) -> Batch:
    def gaps(costs):
        calls.append(costs)
        return found(costs)

    return Batch(AT, QUERIES, asked=7, gaps_at=gaps)


def test_a_policy_that_needs_no_gaps_computes_none():
    calls: list[torch.Tensor] = []
    batch = view(calls)
    assert (batch.size, batch.asked, calls) == (2, 7, [])


def test_the_gap_of_an_instance_is_the_largest_over_its_cost_vectors():
    calls: list[torch.Tensor] = []
    assert np.array_equal(view(calls).gaps("lookup"), [2.0, 4.0])
    assert np.array_equal(view(calls).gaps("solve"), [0.0, 0.0])
    assert [id(costs) for costs in calls] == [id(costs) for costs in (*QUERIES, *AT)]


def test_without_a_bound_there_are_no_gaps():
    assert view([], lambda costs: None).gaps("lookup") is None
