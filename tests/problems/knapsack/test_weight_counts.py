from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.problems.knapsack import weight_counts
from regretless.problems.knapsack.weight_counts import make_counts


@pytest.mark.parametrize("matrix", [True, False])
def test_the_steps_for_a_gpu_are_those_for_a_cpu(matrix, monkeypatch):
    if not matrix:
        monkeypatch.setattr(weight_counts, "MOST_MATRIX", 0)
    chance = np.random.default_rng(0)
    weights = chance.permutation(np.repeat([3, 5, 7], [16, 14, 18]))
    counts = make_counts(weights, 120)
    assert (counts._matrix is not None) == matrix
    value = torch.as_tensor(chance.normal(10, 20, (40, 48)))
    value[0] = value[0].round()  # ties
    assert torch.equal(counts.solve(value), counts._solve_on_device(value))


@pytest.mark.parametrize("kept", [1, 1 << 14])
def test_a_batch_of_any_size_has_the_answers_of_its_rows(kept, monkeypatch):
    monkeypatch.setattr(weight_counts, "MOST_KEPT", kept)
    chance = np.random.default_rng(1)
    counts = make_counts(np.repeat([3, 5, 7], [4, 2, 3]), 20)
    costs = torch.as_tensor(chance.normal(-1, 5, (3000, 9)), dtype=torch.float32)
    one_by_one = torch.cat([counts.solve(row[None]) for row in costs[:50]])
    assert torch.equal(counts.solve(costs)[:50], one_by_one)
    assert torch.equal(counts.solve(costs[:50]), one_by_one)


def test_every_count_fits_and_leaves_no_room_for_one_more_item():
    weights = np.array([2, 2, 3, 3, 3])
    counts = make_counts(weights, 7)
    assert counts.counts.tolist() == [[0, 2], [2, 1]]  # of weight 2, of weight 3
    assert counts.members.tolist() == [[0, 1, 5], [2, 3, 4]]


def test_too_many_combinations_are_left_to_the_dynamic_program():
    assert make_counts(np.arange(1, 40), 200) is None
