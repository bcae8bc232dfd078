from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.cache.bounds.easy_set import EasySet, find_groups
from regretless.milp import MILP
from regretless.problems.matching.formulation import formulate as matching

from .small_models import small_models

INF = np.inf


def rows(milp: MILP) -> list[tuple[int, list[int], bool]]:
    return [(group.row, group.columns.tolist(), group.optional) for group in find_groups(milp)]


@pytest.mark.parametrize(
    ("coefficient", "low", "high", "optional"),
    [
        (1.0, 1.0, 1.0, False),
        (1.0, -INF, 1.0, True),
        (1.0, 0.0, 1.0, True),
        (3.0, 3.0, 3.0, False),
        (-2.0, -2.0, -2.0, False),
        (-1.0, -1.0, INF, True),
        (1.0, 0.5, 1.9, False),  # of integer variables
        (1.0, 1.0, 1.0 + 1e-9, False),
    ],
)
def test_exactly_one_and_at_most_one_are_found_in_every_way_of_writing(coefficient, low, high, optional):
    milp = MILP(np.full((1, 3), coefficient), row_lower=low, row_upper=high)
    assert rows(milp) == [(0, [0, 1, 2], optional)]


@pytest.mark.parametrize(("low", "high"), [(1.0, INF), (-INF, 2.0), (0.0, 0.0), (-INF, INF), (2.0, 2.0)])
def test_other_rows_are_no_groups(low, high):
    assert rows(MILP([[1.0, 1.0, 1.0]], row_lower=low, row_upper=high)) == []
    assert rows(MILP([[1.0, 1.0, 2.0]], row_lower=1.0, row_upper=1.0)) == [], "coefficients differ"


def test_variables_that_are_not_between_0_and_1_make_no_group():
    row = [[1.0, 1.0]]
    assert rows(MILP(row, row_lower=1, row_upper=1, lower=[-1.0, 0.0])) == []
    assert rows(MILP(row, row_lower=1, row_upper=1, upper=[0.5, 1.0], integer=False)) == []
    assert rows(MILP(row, row_lower=0.5, row_upper=1.9, integer=False)) == [], "rounding is for integer variables"
    assert rows(MILP(row, row_lower=1, row_upper=1, integer=False)) == [(0, [0, 1], False)]
    assert rows(MILP(row, row_lower=1, row_upper=1, upper=[0.5, 1.0])) == [(0, [1], False)], "0.5 rounds to 0"


def test_variables_that_may_be_larger_than_1_are_held_by_the_row():
    assert rows(MILP([[1.0, 1.0]], row_upper=1.0, upper=[INF, 7.0])) == [(0, [0, 1], True)]


def test_exactly_one_goes_before_at_most_one_and_large_before_small():
    milp = MILP([[1, 1, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 1]], row_lower=[-INF, 1.0, -INF], row_upper=1.0)
    assert rows(milp) == [(1, [2, 3], False)]
    assert rows(MILP([[1, 1, 0, 0], [0, 1, 1, 1]], row_upper=1.0)) == [(1, [1, 2, 3], True)]


def test_one_side_of_a_matching_is_found():
    milp = matching(np.eye(4, 5, dtype=bool), 0.1, 0.1)
    groups = find_groups(milp)
    covered = sorted(np.concatenate([group.columns for group in groups]).tolist())
    assert covered == list(range(20))
    # The longer rows, which are those of the left side.
    assert [group.row for group in groups] == [0, 1, 2, 3]
    assert all(group.optional for group in groups)


@given(small_models(grouped=True))
def test_groups_are_disjoint_and_hold_for_every_feasible_decision(small):
    groups = find_groups(small.milp)
    for a, b in itertools.combinations(groups, 2):
        assert not set(a.columns) & set(b.columns)
    for group in groups:
        taken = small.decisions[:, group.columns].sum(axis=1)
        assert (taken <= 1).all()
        assert group.optional or (taken == 1).all()


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
