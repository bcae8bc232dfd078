"""
A scikit-learn pipeline
=======================

``DecisionRegressor`` is an estimator: it works in pipelines, with cross-validation and with ``clone``. Its score is
the negative relative regret, so larger is better. Run it with::

    pip install scikit-learn
    python examples/sklearn_pipeline.py
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import regretless as rl
from regretless.estimator import DecisionRegressor


def main() -> dict[str, float]:
    problem = rl.Problem(rl.MILP([[3.0, 4.0, 5.0, 2.0, 6.0]], row_upper=9.0), sense="max")
    generator = np.random.default_rng(0)
    X = generator.normal(size=(90, 3))
    y = np.exp(0.7 * X @ generator.normal(size=(3, 5)))

    scores = {}
    for name, first in (("linear", StandardScaler()), ("quadratic", PolynomialFeatures(2, include_bias=False))):
        pipeline = make_pipeline(first, DecisionRegressor(problem, method="map-dc", epochs=10))
        scores[name] = cross_val_score(pipeline, X, y, cv=3)
        print(f"{name} features: score {scores[name].mean():.3f}")

    figure, axes = plt.subplots(figsize=(5, 2.2))
    axes.boxplot([-100 * value for value in scores.values()], orientation="horizontal", tick_labels=list(scores))
    axes.set_xlabel("regret of a fold, % of the optimal value")
    figure.tight_layout()
    return {name: float(value.mean()) for name, value in scores.items()}


if __name__ == "__main__":
    main()
