from __future__ import annotations

import numpy as np

from regretless.problems.energy.window_sums import window_sums, without_overflow


def test_sums_equal_sums_of_slices() -> None:
    costs = np.random.default_rng(0).normal(size=(3, 11))
    sums = window_sums(costs, range(1, 12))
    for length in range(1, 12):
        expected = np.stack([costs[:, s : s + length].sum(axis=1) for s in range(12 - length)], axis=1)
        np.testing.assert_allclose(sums[length], expected, atol=1e-14)


def test_a_huge_price_does_not_blur_the_others() -> None:
    costs = np.array([[1e17, 0.25, 0.5, 0.125]])
    assert window_sums(costs, [2])[2][0, 1:].tolist() == [0.75, 0.625]


def test_sums_do_not_depend_on_the_batch() -> None:
    costs = np.random.default_rng(1).normal(size=(50, 48))
    together = window_sums(costs, [7, 26])
    for k in range(50):
        alone = window_sums(costs[k : k + 1], [7, 26])
        assert all((alone[d][0] == together[d][k]).all() for d in (7, 26))


def test_only_rows_that_would_overflow_are_scaled() -> None:
    costs = np.array([[1e308, -1e308, 3.0], [1.0, 2.0, 3.0]])
    scaled = without_overflow(costs)
    assert (scaled[1] == costs[1]).all()
    assert (scaled[0] == costs[0] * 2.0**-200).all()
    assert np.isfinite(window_sums(scaled, [3])[3]).all()
