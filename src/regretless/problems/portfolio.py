"""The portfolio of most return within a risk, a convex program, with returns from a formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.milp import Floats
from regretless.modeling.convex import ConvexProgram
from regretless.number_checks import check_number
from regretless.optional import need
from regretless.problem import Problem
from regretless.problems.polynomial_costs import Costs, Formula, check_counts
from regretless.problems.settings import Settings


def portfolio_data(formula: Formula, assets: int) -> tuple[Floats, Floats, Costs]:
    """Covariance ``(assets, assets)``, features ``(n, p)`` and returns ``(n, assets)``.

    Returns are ``(0.05 B x / sqrt p + 0.1^(1/deg))^deg + L f + 0.01 noise e`` with f and e from N(0, I), B of zeros and
    ones and L from U(-0.0025, 0.0025) noise. The covariance is that of the last two terms (Elmachtoub and Grigas,
    2022).
    """
    check_counts(assets=assets)
    instances, features, deg, noise = formula.instances, formula.features, formula.deg, formula.noise
    rng = formula.random()
    mask = rng.binomial(1, 0.5, (assets, features))
    loadings = rng.uniform(-2.5e-3 * noise, 2.5e-3 * noise, (assets, features))
    x = rng.normal(0, 1, (instances, features))
    returns = (0.05 * (x @ mask.T) / np.sqrt(features) + 0.1 ** (1 / deg)) ** deg
    drawn = rng.randn(instances, features + assets)
    returns += drawn[:, :features] @ loadings.T + 0.01 * noise * drawn[:, features:]
    covariance = loadings @ loadings.T + (1e-2 * noise) ** 2 * np.eye(assets)
    return covariance, x, returns.astype(np.float32)


def portfolio_program(covariance: Floats, risk: float, **options: Any) -> ConvexProgram:
    """``max c . w`` over ``w >= 0`` with ``sum w = 1`` and ``w' covariance w <= risk mean(covariance)``.

    Args:
        covariance: ``(assets, assets)``.
        risk: allowed multiple of the variance that equal shares have.
        options: of ``ConvexProgram``.
    """
    cvxpy = need("cvxpy", pip="cvxpy", why="solve portfolios")
    weights = cvxpy.Variable(len(covariance), nonneg=True, name="w")
    returns = cvxpy.Parameter(len(covariance), name="returns")
    # The square root makes it a cone of the size of the weights, with no test of the matrix at every solve.
    spread = cvxpy.norm(np.linalg.cholesky(covariance).T @ weights) / np.sqrt(covariance.mean())
    rows = [cvxpy.sum(weights) == 1, spread <= np.sqrt(risk)]
    return ConvexProgram(cvxpy.Problem(cvxpy.Maximize(returns @ weights), rows), **options)


def load_portfolio(
    name: str,
    *,
    assets: int = 50,
    risk: float = 2.25,
    features: int = 5,
    deg: int = 4,
    noise: float = 1.0,
    **settings: Any,
) -> BenchmarkProblem:
    """Load ``portfolio``: shares of assets with the most return within a risk, a quadratic constraint.

    Args:
        name: ``portfolio``.
        assets: number of assets.
        risk: allowed multiple of the variance that equal shares have; at least 1.
        features, deg: of the formula; see ``portfolio_data``.
        noise: of the returns, and so of the covariance; positive.
        settings: see ``Settings``; cvxpy solves one instance after the other, and there is no other engine.
    """
    check_number("risk", risk, least=0)
    if risk < 1.0 or not noise > 0.0:
        raise InputError(f"risk must be at least 1, that of equal shares, and noise positive, got {risk} and {noise}")
    given = Settings(**settings)
    if given.engine != "oracle" or given.gap:
        raise InputError(f"cvxpy solves the portfolio: leave out engine= and gap=, got {given.engine!r}, {given.gap}")
    covariance, x, c = portfolio_data(Formula(given.instances, features, deg, noise, given.seed), assets)
    options = {} if given.time_limit is None else {"time_limit": float(given.time_limit)}
    return given.load(name, Problem(portfolio_program(covariance, risk, **options), sense="max"), x, c)
