"""
A production loop
=================

Train on the past, decide every day, learn the true costs in the evening, measure the regret, and retrain once a month
from the present weights. Run it with::

    python examples/production_loop.py
"""

from __future__ import annotations

import numpy as np
import torch
from matplotlib import pyplot as plt

import regretless as rl

DAYS, START, MONTH = 150, 60, 30


def market(days: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of six offers whose dependence on the features drifts with time."""
    generator = np.random.default_rng(0)
    features = generator.normal(size=(days, 3))
    first, last = generator.normal(size=(2, 3, 6))
    share = np.linspace(0, 1, days)[:, None, None]
    mix = (1 - share) * first + share * last
    return features, np.exp(0.6 * np.einsum("nf,nfd->nd", features, mix))


def main() -> dict[str, float]:
    problem = rl.Problem(rl.MILP([[3.0, 4.0, 5.0, 2.0, 6.0, 3.0]], row_upper=9.0), sense="max")
    features, values = market(DAYS)
    data = rl.Dataset.solve(problem, features, values, progress=False)  # in practice: one more row every evening

    regrets: dict[str, list[float]] = {"trained once": [], "retrained": []}
    for name, kept in regrets.items():
        model, since = None, START
        for day in range(START, DAYS):
            if model is None or (name == "retrained" and day - since == MONTH):
                past = data[torch.arange(max(0, day - START), day)]
                start = "two-stage" if model is None else model
                model, since = (
                    rl.train(problem, past, method="map-dc", epochs=10, start=start, progress=False).model,
                    day,
                )
            today = data[torch.tensor([day])]
            kept.append(float(rl.regret(problem, rl.predict(model, today.features), today.costs, today.solutions)))

    plt.figure(figsize=(6, 2.6), layout="constrained")
    for name, kept in regrets.items():
        plt.plot(range(START, DAYS), np.cumsum(kept), label=name)
        print(f"{name}: regret {np.mean(kept):.3f} per day")
    plt.xlabel("day")
    plt.ylabel("sum of regrets")
    plt.legend(frameon=False)
    return {name: float(np.mean(kept)) for name, kept in regrets.items()}


if __name__ == "__main__":
    main()
