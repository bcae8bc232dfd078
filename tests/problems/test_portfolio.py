from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.errors import InputError
from regretless.problems import load
from regretless.problems.polynomial_costs import Formula
from regretless.problems.portfolio import portfolio_data, portfolio_program
from regretless.types import Status

pytest.importorskip("cvxpy")
optimize = pytest.importorskip("scipy.optimize")


def test_data_are_those_of_pyepo_for_the_same_seed():
    covariance, x, returns = portfolio_data(Formula(instances=2, features=3, deg=2, noise=1.0, seed=135), 4)
    np.testing.assert_allclose(covariance[0] * 1e4, [1.08489663, -0.0708692, 0.01959509, -0.02397058], rtol=1e-6)
    np.testing.assert_allclose(x[0], [1.76807504, 1.56410933, 0.74827377], rtol=1e-6)
    np.testing.assert_allclose(returns[1], [0.10427745, 0.09307452, 0.11297665, 0.09422833], rtol=1e-6)


def test_shares_sum_to_one_within_the_risk_and_no_others_return_more():
    covariance, _, returns = portfolio_data(Formula(instances=5, features=3, deg=4, noise=1.0, seed=1), 6)
    program = portfolio_program(covariance, 1.5)
    shares = program.solve(-torch.as_tensor(returns)).solution.numpy()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-6)
    assert shares.min() >= -1e-8
    risks = np.einsum("bi,ij,bj->b", shares, covariance, shares) / covariance.mean()
    assert risks.max() <= 1.5 + 1e-6
    limits = [
        {"type": "eq", "fun": lambda w: w.sum() - 1},
        {"type": "ineq", "fun": lambda w: 1.5 - w @ covariance @ w / covariance.mean()},
    ]
    for row, share in zip(returns.astype(float), shares, strict=True):
        other = optimize.minimize(
            lambda w, r=row: -r @ w * 10, np.full(6, 1 / 6), bounds=[(0, 1)] * 6, constraints=limits
        )
        assert row @ share == pytest.approx(-other.fun / 10, abs=2e-5)


def test_standard_setting_has_50_assets_to_maximize_over():
    loaded = load("portfolio", train=3, test=2)
    assert (loaded.train.costs.shape, loaded.problem.sense) == ((3, 50), "max")
    assert loaded.problem.model is None


def test_a_time_limit_reaches_the_solver():
    loaded = load("portfolio", train=1, test=1, time_limit=1e-9)  # Clarabel's first point, equal shares, is feasible
    assert loaded.train.status == (Status.TIME_LIMIT,)


def test_there_is_no_other_engine():
    with pytest.raises(InputError, match="leave out engine="):
        load("portfolio", engine="highs")


@pytest.mark.parametrize("options", [{"risk": 0.5}, {"noise": 0.0}])
def test_a_risk_below_that_of_equal_shares_and_no_noise_are_refused(options):
    with pytest.raises(InputError, match="risk must be at least 1"):
        load("portfolio", **options)
