from __future__ import annotations

import itertools

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.cache.bounds.easy_set import EasySet
from regretless.cache.bounds.group_rows import find_groups
from regretless.milp import MILP

from .small_models import small_models


@given(small_models(grouped=True), st.integers(0, 1000))
def test_the_minimum_is_that_over_all_points_of_groups_and_box(small, seed):
    milp = small.milp
    groups = find_groups(milp)
    lower, upper = milp.integer_bounds()
    if np.isinf(lower).any() or np.isinf(upper).any():
        return
    points = np.array(list(itertools.product(*[np.arange(a, b + 1) for a, b in zip(lower, upper, strict=True)])))
    for group in groups:
        taken = points[:, group.columns].sum(axis=1)
        points = points[(taken <= 1) if group.optional else (taken == 1)]
    generator = np.random.default_rng(seed)
    priced, scale = generator.normal(size=(2, milp.n)), generator.random(len(small.costs)) + 0.5
    easy = EasySet(milp, groups)
    costs = torch.from_numpy(small.costs)
    found = easy.minimum(easy.costs(costs), easy.offsets(priced, np.abs(priced)), torch.from_numpy(scale)).numpy()
    objective = milp.objective(small.costs)
    for b, k in itertools.product(range(len(costs)), range(2)):
        expected = (points @ (objective[b] - scale[b] * priced[k])).min()
        assert abs(found[b, k] - expected) <= 1e-9 * (1 + np.abs(objective[b]).sum())


def test_columns_of_a_group_that_cost_the_same_are_one():
    # Two machines, three starts: x_ms costs c_s on both machines.
    cost_map = np.array([[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]], dtype=float)
    milp = MILP(np.ones((1, 6)), row_lower=1, row_upper=1, cost_map=cost_map)
    easy = EasySet(milp, find_groups(milp))
    assert easy.size == 3
    costs = torch.tensor([[3.0, 1.0, 2.0]], dtype=torch.float64)
    priced = np.array([[0.0, 0.0, 0.0, 0.0, 0.5, 3.0]])
    one = torch.ones(1, dtype=torch.float64)
    assert easy.minimum(easy.costs(costs), easy.offsets(priced, np.abs(priced)), one).tolist() == [[-1.0]]


def test_groups_of_very_different_sizes_do_not_pad_each_other():
    sizes = [64, *[2] * 20]
    rows = np.zeros((len(sizes), sum(sizes)))
    start = 0
    for row, size in zip(rows, sizes, strict=True):
        row[start : start + size] = 1.0
        start += size
    milp = MILP(rows, row_lower=1, row_upper=1)
    easy = EasySet(milp, find_groups(milp))
    assert easy.size == sum(sizes)


def test_groups_that_share_a_block_have_minima_of_their_own():
    milp = MILP([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]], row_lower=1, row_upper=1)
    easy, none = EasySet(milp, find_groups(milp)), np.zeros((1, 5))
    costs = torch.tensor([[4.0, 5.0, 2.0, 3.0, 1.0]], dtype=torch.float64)
    one = torch.ones(1, dtype=torch.float64)
    assert easy.minimum(easy.costs(costs), easy.offsets(none, none), one).tolist() == [[4.0 + 1.0]]
