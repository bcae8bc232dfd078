"""The field's formulas: PyEPO 2.2.7's numbers for its seeds, and their structure."""

from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.problems.polynomial_costs import (
    Formula,
    check_counts,
    distance_costs,
    places,
    polynomial_costs,
    random,
)

SETTINGS = {"instances": 20, "features": 4, "deg": 3, "noise": 0.0, "seed": 1}


def costs_of(count=6, **settings):
    formula = Formula(**SETTINGS | settings)
    return polynomial_costs(formula.random(), formula, count)


def test_without_noise_costs_are_the_polynomial_of_the_features():
    x, c = costs_of()
    # Each cost depends on some of the features: its root of degree 3 is linear in them.
    root = np.cbrt(c * 3.5**3 - 1) - 3
    weights = np.linalg.lstsq(x, root, rcond=None)[0] * np.sqrt(4)
    np.testing.assert_allclose(x @ weights / np.sqrt(4), root, atol=1e-9)
    assert set(np.round(weights.ravel(), 9)) <= {0.0, 1.0}


def test_noise_multiplies_costs_within_its_width():
    _, plain = costs_of()
    _, noisy = costs_of(noise=0.25)
    ratio = noisy / plain
    assert 0.75 <= ratio.min() < 0.8
    assert 1.2 < ratio.max() <= 1.25


def test_distances_are_the_known_part_of_the_costs():
    formula = Formula(instances=4, features=2, deg=2, noise=0.5, seed=3)
    near, far = (distance_costs(formula.random(), formula, d * np.ones(5)) for d in (0, 7))
    np.testing.assert_allclose(far[1] - near[1], 7.0)
    assert np.array_equal(near[0], far[0])


def test_share_is_the_chance_that_a_cost_depends_on_a_feature():
    formula = Formula(instances=30, features=5, deg=1, noise=0.0, seed=0)
    x, c = distance_costs(formula.random(), formula, np.zeros(400), share=0.25)
    weights = np.linalg.lstsq(x, (c - 3) * np.sqrt(5), rcond=None)[0]
    assert np.mean(np.abs(weights) > 1e-9) == pytest.approx(0.25, abs=0.04)
    assert np.abs(weights).max() <= 2.0


def test_places_are_uniform_first_and_normal_then():
    at = places(random(0), 2001)
    assert at.shape == (2001, 2)
    assert np.abs(at[:1000]).max() <= 2.0
    assert at[1000:].std() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("name", "value"), [("deg", 0), ("deg", 501), ("deg", 1.5), ("deg", True), ("features", -1), ("instances", "3")]
)
def test_counts_that_are_no_positive_integers_are_named(name, value):
    with pytest.raises(InputError, match=f"{name} must be an integer(, at least 1| from 1 to 500)"):
        Formula(**SETTINGS | {name: value})


@pytest.mark.parametrize("noise", [-0.1, float("nan"), float("inf"), "much", True])
def test_noise_that_is_no_level_is_refused(noise):
    with pytest.raises(InputError, match="noise must be a finite number, at least 0"):
        Formula(**SETTINGS | {"noise": noise})


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, None])
def test_seeds_that_numpy_does_not_take_are_refused(seed):
    with pytest.raises(InputError, match="seed must be an integer"):
        random(seed)


def test_limits_themselves_are_accepted():
    check_counts(0, validation=0)
    Formula(**SETTINGS | {"noise": 0})
