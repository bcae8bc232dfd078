from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.problems.feasible_sets import feasible_sets


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 3))
def test_all_sets_that_fit_are_listed_once_and_no_others(seed, items, rows):
    rng = np.random.default_rng(seed)
    weights, capacities = rng.integers(1, 9, (rows, items)) / 2.0, rng.integers(0, 15, rows) / 1.0
    layers = feasible_sets(weights, capacities, most=1000)
    found = [tuple(members) for part in layers for members in part.members.tolist()]
    every = [s for size in range(1, items + 1) for s in combinations(range(items), size)]
    want = [s for s in every if (weights[:, list(s)].sum(axis=1) <= capacities).all()]
    assert sorted(found) == sorted(want)
    for part in layers:
        assert part.bits.tolist() == sorted(sum(1 << item for item in members) for members in part.members.tolist())
        np.testing.assert_allclose(part.loads.T, [weights[:, members].sum(axis=1) for members in part.members])


def test_a_sum_that_only_rounding_puts_above_the_capacity_fits():
    layers = feasible_sets(np.array([[0.1, 0.2]]), np.array([0.3]), most=10)  # 0.1 + 0.2 > 0.3 in floating point
    assert len(layers) == 2


def test_too_many_sets_or_items_are_refused_with_a_way_out():
    with pytest.raises(InputError, match=r"more than 20 sets.*engine='highs'"):
        feasible_sets(np.ones((1, 8)), np.array([8.0]), most=20)
    with pytest.raises(InputError, match=r"at most 62 items, got 63.*engine='highs'"):
        feasible_sets(np.ones((1, 63)), np.array([1.0]), most=100)
