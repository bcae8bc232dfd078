"""
An existing model
=================

What do the decisions of an existing model cost? ``evaluate`` takes any fitted regressor with ``predict``. Here boosted
trees of scikit-learn predict the hourly prices by which a workshop schedules its orders. They are compared with three
models of this library. Run it with::

    pip install scikit-learn
    python examples/boosted_trees.py

A line per feature cannot follow the prices, which rise steeply where the demand is high. Then training on the
regret helps. With a nonlinear model (trees or splines), plain regression leads to good decisions, too.
"""

from __future__ import annotations

from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingRegressor

import regretless as rl


def main() -> dict[str, float]:
    loaded = rl.load("workshop", orders=2, train=60, test=40)
    problem, train, test = loaded.problem, loaded.train, loaded.test

    # One row per hour, as the trees would be fitted elsewhere: (days, 24, 4) -> (days * 24, 4).
    rows, prices = train.features.reshape(-1, 4).numpy(), train.costs.flatten().numpy()
    trees = HistGradientBoostingRegressor(random_state=0).fit(rows, prices)

    models = {"boosted trees": trees}
    for name, kind, method in (
        ("linear, regression", "linear", "two-stage"),
        ("linear, SPO+ with a cache", "linear", "spo-cache"),
        ("splines, regression", "splines", "two-stage"),
    ):
        model = rl.make_model(train.features, problem.dimension, costs=train.costs, kind=kind)
        settings = {"fit": "best"} if method == "two-stage" else {"start": "two-stage", "epochs": 10}
        models[name] = rl.train(problem, train, model, method=method, progress=False, **settings).model
    regrets = {name: rl.evaluate(model, test, problem).regret for name, model in models.items()}
    for name, regret in regrets.items():
        print(f"{name}: {regret:.2f}")

    _, axes = plt.subplots(figsize=(5, 2.2), layout="constrained")
    axes.barh(list(regrets), list(regrets.values()), color="#0072b2")
    axes.invert_yaxis()
    axes.set_xlabel("mean test regret")
    return regrets


if __name__ == "__main__":
    main()
