from __future__ import annotations

import numpy as np
import pytest

from regretless.problems.autoregression import wander


def test_neighboring_slots_are_correlated_and_the_deviation_is_reached() -> None:
    series = wander(np.random.default_rng(0), (5000, 40), 0.8, 3.0)
    assert series.shape == (5000, 40)
    assert series[:, -1].std() == pytest.approx(3.0, rel=0.05)
    assert np.corrcoef(series[:, -2], series[:, -1])[0, 1] == pytest.approx(0.8, abs=0.03)
    assert abs(np.corrcoef(series[:-1, -1], series[1:, -1])[0, 1]) < 0.05, "days do not depend on each other"


def test_the_generator_decides() -> None:
    first, second, third = (wander(np.random.default_rng(seed), (3, 4), 0.5) for seed in (1, 1, 2))
    assert (first == second).all()
    assert (first != third).any()
