from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.problems import load
from regretless.problems.facility_location.load import facility_data
from regretless.problems.polynomial_costs import Formula


def test_standard_setting_has_200_customers_and_10_facilities():
    data = facility_data(Formula(instances=3, features=10, deg=4, noise=0.5, seed=135), 200, 10)
    assert (data.costs.shape, data.features.shape, data.customers.shape) == ((3, 2000), (3, 10), (200, 2))
    assert data.capacities.sum() == pytest.approx(10 / 3 * data.demands.sum())
    assert data.costs.min() >= 0.01
    assert data.costs.max() <= 100.0


def test_costs_are_clipped_on_both_sides():
    low, high = (Formula(instances=400, features=1, deg=deg, noise=1.0, seed=135) for deg in (1, 7))
    assert facility_data(low, 5, 4).costs.min() == np.float32(0.01)
    assert facility_data(high, 5, 4).costs.max() == 100.0


def test_every_customer_is_served_within_the_capacities():
    loaded = load("facility-location", customers=12, facilities=5, train=4, test=2)
    assert (loaded.problem.sense, loaded.problem.width) == ("min", 61)
    served = loaded.train.solutions[:, :-1].reshape(4, 12, 5)
    np.testing.assert_allclose(served.sum(2), 1.0)
    data = facility_data(Formula(instances=6, features=10, deg=4, noise=0.5, seed=135), 12, 5)
    load_of = np.einsum("i,nij->nj", data.demands, served.numpy())
    assert (load_of <= data.capacities + 1e-6).all()


def test_three_facilities_are_too_few():
    with pytest.raises(InputError, match="facilities must be an integer, at least 4"):
        load("facility-location", facilities=3)
