from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.problems.matching.formulation import Side
from regretless.problems.matching.lagrangian import assign, best_multiplier, mix, reduced_costs, value


def draw(seed: int, n: int = 6) -> tuple[np.ndarray, Side]:
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, 1.0, (n, n)), Side(rng.random((n, n)) < 0.3, 0.4, 0.3)


def test_assignment_leaves_losing_and_idle_pairs_apart() -> None:
    assert assign(np.array([[2.0, -1.0], [-3.0, 0.0]])).tolist() == [0, -1]
    assert assign(np.array([[1.0, 5.0, 0.0]])).tolist() == [1]
    assert assign(-np.ones((3, 2))).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("seed", range(20))
def test_reduced_costs_bound_every_matching(seed: int) -> None:
    gain, _ = draw(seed, 4)
    reduced, most = reduced_costs(gain)
    assert most == pytest.approx(value(gain, assign(gain)))
    assert reduced.min() > -1e-9
    for order in permutations(range(4)):
        for chosen in np.ndindex(2, 2, 2, 2):
            partners = np.where(chosen, order, -1)
            loss = value(reduced, partners)
            assert value(gain, partners) <= most - loss + 1e-9


def test_prices_serve_sides_of_different_size() -> None:
    gain = np.array([[1.0, 5.0, 2.0], [4.0, 6.0, 3.0]])
    reduced, most = reduced_costs(gain)
    assert most == pytest.approx(9.0)
    assert reduced.shape == (2, 3)
    assert reduced.min() > -1e-9


@given(seed=st.integers(0, 10_000))
def test_multiplier_gives_the_value_of_the_relaxation_and_mixes_are_feasible(seed: int) -> None:
    gain, side = draw(seed)
    start = assign(gain)
    if side.holds(*side.counts(start)):
        return
    bound = best_multiplier(gain, side, start)
    _, most = reduced_costs(bound.shifted)
    for partners in (bound.violating, bound.satisfying):
        row = side.rows(*side.counts(partners))[bound.row]
        assert value(gain, partners) + bound.multiplier * row == pytest.approx(most)
    assert side.rows(*side.counts(bound.violating))[bound.row] < 0
    assert side.rows(*side.counts(bound.satisfying))[bound.row] >= 0
    mixed = mix(bound, side)
    if mixed is not None:
        assert side.holds(*side.counts(mixed))
        used = mixed[mixed >= 0]
        assert len(set(used.tolist())) == len(used)
        row = side.rows(*side.counts(mixed))[bound.row]
        assert value(gain, mixed) == pytest.approx(most - bound.multiplier * row)
