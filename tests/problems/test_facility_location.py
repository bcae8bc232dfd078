from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from regretless import Problem
from regretless.errors import InputError
from regretless.problems import load
from regretless.problems.facility_location import facility_data, facility_milp
from regretless.problems.polynomial_costs import Formula


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_the_best_over_all_open_sets(seed):
    rng = np.random.default_rng(seed)
    demands, capacities, opening = rng.random(5), np.full(3, 1.6), rng.random(3) * 2
    costs = rng.random((5, 3))
    best = np.inf
    for is_open in product([0.0, 1.0], repeat=3):
        # A transport problem between what is open and all customers.
        found = linprog(
            costs.ravel(),
            A_ub=np.kron(demands[None], np.eye(3)),
            b_ub=capacities * is_open,
            A_eq=np.kron(np.eye(5), np.ones((1, 3))),
            b_eq=np.ones(5),
            bounds=[(0, 1)] * 15,
        )
        if found.status == 0:
            best = min(best, found.fun + opening @ is_open)
    decided = Problem(facility_milp(demands, capacities, opening)).solve(costs.reshape(1, -1))
    assert decided.objective.item() == pytest.approx(best)
    assert decided.solution.shape == (1, 16)  # the last coordinate is the known cost of opening
    is_open = decided.decision[0, -3:].numpy()
    assert decided.solution[0, -1].item() == pytest.approx(is_open @ opening)


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
