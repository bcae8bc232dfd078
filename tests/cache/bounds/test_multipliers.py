from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.cache.bounds import MultiplierSet
from regretless.cache.bounds.multipliers import RelaxationMultipliers
from regretless.errors import InputError
from regretless.milp import MILP


def test_zero_is_there_from_the_start_and_stays():
    kept = MultiplierSet(2, most=2)
    assert kept.values.tolist() == [[0.0, 0.0]]
    for k in range(1, 4):
        assert kept.add(np.array([k, 0.0]))
    assert kept.values.tolist() == [[0.0, 0.0], [3.0, 0.0]]


def test_what_is_alike_is_not_added_again():
    kept = MultiplierSet(2)
    assert kept.add(np.array([1.0, 2.0]))
    assert not kept.add(np.array([1.0, 2.0 + 1e-10]))
    assert not kept.add(np.zeros(2))
    assert kept.add(np.array([1.0, 2.1]))
    assert len(kept) == 3


def test_tiny_multipliers_of_rows_with_large_coefficients_differ_from_zero_and_from_each_other():
    kept = MultiplierSet(2)
    assert kept.add(np.array([1e-12, 2e-12]))
    assert kept.add(np.array([1e-12, 3e-12]))
    assert not kept.add(np.array([1e-12, 3e-12]))
    assert len(kept) == 3


def test_the_least_used_goes_first_and_of_those_the_oldest():
    kept = MultiplierSet(1, most=4)
    for k in (1.0, 2.0, 3.0):
        kept.add(np.array([k]))
    kept.used(np.array([1, 1, 3, 0]))
    kept.add(np.array([4.0]))
    assert sorted(kept.values[:, 0]) == [0.0, 1.0, 3.0, 4.0]
    kept.used(np.array([2]))  # the place of the new one
    kept.add(np.array([5.0]))
    kept.add(np.array([6.0]))
    assert 1.0 in kept.values[:, 0], "used twice"
    assert len(kept) == 4


def test_no_rows_are_no_multipliers():
    kept = MultiplierSet(0)
    assert not kept.add(np.zeros(0))


def test_state_goes_on_alike():
    first = MultiplierSet(1, most=3)
    first.add(np.array([1.0]))
    first.used(np.array([1]))
    again = MultiplierSet(1, most=3)
    again.load_state_dict(first.state_dict())
    for kept in (first, again):
        kept.add(np.array([2.0]))
        kept.add(np.array([3.0]))
    assert np.array_equal(first.values, again.values)
    assert np.array_equal(first.uses, again.uses)
    with pytest.raises(InputError, match="must have 1 columns"):
        again.load_state_dict(first.state_dict() | {"values": torch.zeros(2, 5)})


def test_there_is_room_for_more_than_the_zero():
    with pytest.raises(InputError, match="most must be an integer, at least 2"):
        MultiplierSet(1, most=1)


def test_multipliers_are_the_prices_of_the_rows():
    # min -3x - 2y with x + y <= 4 and x <= 3 as rows, over 0 <= x, y <= 10: prices -2 and -1.
    milp = MILP([[1.0, 1.0], [1.0, 0.0]], row_upper=[4.0, 3.0], upper=10.0, integer=False)
    costs = np.array([-3.0, -2.0])
    assert RelaxationMultipliers(milp, costs)(costs).tolist() == pytest.approx([-2.0, -1.0])


def test_they_do_not_depend_on_what_was_solved_before():
    generator = np.random.default_rng(0)
    milp = MILP(generator.integers(0, 4, (6, 15)), row_upper=9.0)
    objectives = -generator.integers(0, 4, (12, 15)).astype(float)  # with many ties
    first, second = (RelaxationMultipliers(milp, objectives[0]) for _ in range(2))
    forward = [first(objective) for objective in objectives]
    backward = [second(objective) for objective in objectives[::-1]][::-1]
    assert all(np.array_equal(a, b) for a, b in zip(forward, backward, strict=True))


def test_without_an_optimum_there_are_none():
    unbounded = MILP([[1.0]], row_lower=0.0, upper=np.inf, integer=False)
    assert RelaxationMultipliers(unbounded, np.array([-1.0]))(np.array([-1.0])) is None
    infeasible = MILP([[1.0]], row_lower=5.0)
    assert RelaxationMultipliers(infeasible, np.array([1.0]))(np.array([1.0])) is None


@pytest.mark.parametrize("size", [1e-12, 1e9, 1e12])
def test_tiny_and_huge_costs_have_the_multipliers_of_usual_ones_in_their_size(size):
    milp = MILP([[1.0, 1.0], [1.0, 0.0]], row_upper=[4.0, 3.0], upper=10.0, integer=False)
    costs = size * np.array([-3.0, -2.0])
    assert RelaxationMultipliers(milp, costs)(costs) / size == pytest.approx([-2.0, -1.0])


def test_huge_costs_of_a_free_variable_have_multipliers_that_leave_no_reduced_cost():
    for seed in range(20):
        generator = np.random.default_rng(seed)
        rows, point = generator.integers(-3, 4, (2, 3)).astype(float), generator.random(3)
        sides, free = rows @ point, np.array([-np.inf, -1.0, -1.0])
        milp = MILP(rows, row_lower=sides, row_upper=sides, lower=free, upper=-2 * free, integer=False)
        costs = 1e9 * (generator.normal(size=2) @ rows + np.array([0.0, 1.0, -1.0]) * generator.random(3))
        found = RelaxationMultipliers(milp, costs)(costs)
        assert found is not None
        assert costs[0] - rows[:, 0] @ found == pytest.approx(0.0, abs=1e-12 * np.abs(costs).max())
