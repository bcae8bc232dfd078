from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from regretless.problems import load
from regretless.problems.polynomial_costs import Formula
from regretless.problems.random_linear_program import random_program_data


def test_optima_are_those_of_another_solver():
    loaded = load("random-lp", variables=12, rows=6, train=20, test=1)
    A = loaded.problem.model.A.toarray()
    assert loaded.problem.sense == "max"
    for values, solution in zip(loaded.train.costs.numpy(), loaded.train.solutions.numpy(), strict=True):
        assert values @ solution == pytest.approx(-linprog(-values, A_ub=A, b_ub=np.ones(6)).fun)
        assert (A @ solution <= 1.0 + 1e-7).all()
        assert solution.min() >= 0.0


def test_standard_setting_has_100_variables_and_50_rows():
    A, x, values = random_program_data(Formula(instances=4, features=5, deg=8, noise=0.5, seed=135), 100, 50)
    assert (A.shape, x.shape, values.shape) == ((50, 100), (4, 5), (4, 100))
    assert 0.0 <= A.min() < A.max() <= 1.0
