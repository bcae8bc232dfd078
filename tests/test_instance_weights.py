from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from regretless.errors import InputError
from regretless.instance_weights import checked_weights, relative_weights, weighted_mean


def test_weights_come_as_anything_that_holds_numbers():
    for given in ([1, 2], np.array([1, 2]), torch.tensor([1.0, 2.0])):
        found = checked_weights("weight", given, 2)
        assert found.dtype == torch.float64
        assert found.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("given", "zero", "message"),
    [
        ([1.0], False, r"weight must have shape \(2,\), got \(1,\)"),
        ([[1.0], [2.0]], False, r"weight must have shape \(2,\), got \(2, 1\)"),
        ([1.0, 0.0], False, r"above 0: leave out instances that do not count; got 0.0 in row 1"),
        ([-1.0, 1.0], True, r"finite and not negative; got -1.0 in row 0"),
        ([1.0, math.nan], True, r"got nan in row 1"),
        ([1.0, math.inf], False, r"got inf in row 1"),
        ([0.0, 0.0], True, r"must not be zero for all instances, got 2 weights of 0"),
        (["a", "b"], True, r"weight must be numbers"),
    ],
)
def test_weights_that_cannot_count_are_refused_with_their_row(given, zero, message):
    with pytest.raises(InputError, match=message):
        checked_weights("weight", given, 2, zero=zero)


def test_relative_weights_have_a_mean_of_one():
    assert relative_weights(None) is None
    assert relative_weights(torch.tensor([1.0, 3.0])).tolist() == [0.5, 1.5]


def test_a_weighted_mean_is_that_of_repeated_values_and_leaves_out_nan():
    values, weight = torch.tensor([1.0, 5.0, math.nan]), torch.tensor([3.0, 1.0, 7.0])
    assert weighted_mean(values, weight) == pytest.approx((3 * 1.0 + 5.0) / 4)
    assert weighted_mean(values, None) == 3.0
    assert math.isnan(weighted_mean(values[2:], weight[2:]))
    assert math.isnan(weighted_mean(values[2:], None))
