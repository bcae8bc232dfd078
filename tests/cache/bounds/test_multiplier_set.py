from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.cache.bounds import MultiplierSet
from regretless.errors import InputError


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
