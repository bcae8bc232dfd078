"""
A portfolio in cvxpy
====================

Predicted returns, and a convex constraint on the risk: the cvxpy problem is the solver, and its ``Parameter`` is what
is predicted. Run it with::

    pip install cvxpy
    python examples/cvxpy_portfolio.py
"""

from __future__ import annotations

import cvxpy
import numpy as np
from matplotlib import pyplot as plt

import regretless as rl

ASSETS = 8


def portfolio(covariance: np.ndarray) -> cvxpy.Problem:
    """The best return at a risk of at most 15 %."""
    shares, returns = cvxpy.Variable(ASSETS, nonneg=True), cvxpy.Parameter(ASSETS)
    rules = [cvxpy.sum(shares) == 1, cvxpy.quad_form(shares, cvxpy.psd_wrap(covariance)) <= 0.15**2]
    return cvxpy.Problem(cvxpy.Maximize(returns @ shares), rules)


def main() -> dict[str, float]:
    generator = np.random.default_rng(0)
    factors = generator.normal(size=(ASSETS, 3)) * 0.12
    covariance = factors @ factors.T + 0.01 * np.eye(ASSETS)
    problem = rl.Problem(portfolio(covariance))
    features = generator.normal(size=(120, 4))
    # Heavy tails, which a linear model cannot fit: it must choose what to be right about.
    signal, noise = features @ generator.normal(size=(4, ASSETS)), generator.normal(size=(120, ASSETS))
    returns = 0.02 * np.sinh(signal) + 0.01 * noise
    train, test = rl.Dataset.solve(problem, features, returns, progress=False).split(2 / 3)

    found = rl.auto(problem, train, epochs=10, progress=False)
    print(found.verdict)
    relative = {
        name: rl.evaluate(model, test, problem).relative_regret
        for name, model in {"two-stage": found.two_stage, "auto": found.model}.items()
    }
    for name, lost in relative.items():
        print(f"{name}: {100 * lost:.1f} % of the best return is lost")

    chosen = problem.solve(rl.predict(found.model, test.features[:1])).solution[0]
    _, axes = plt.subplots(figsize=(5, 2.4), layout="constrained")
    axes.bar(np.arange(ASSETS) - 0.2, chosen, width=0.4, color="#0072b2", label="at the prediction")
    axes.bar(np.arange(ASSETS) + 0.2, test.solutions[0], width=0.4, color="#c9d3de", label="best in hindsight")
    axes.set(xlabel="asset", ylabel="share")
    axes.legend(frameon=False)
    return relative


if __name__ == "__main__":
    main()
