"""
Your own MILP
=============

A crew loads a van: each parcel has a weight and a volume, and its revenue is predicted. The model is written as
arrays, ``auto`` trains it, and the verdict says whether that pays. Run it with::

    python examples/own_milp.py
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt

import regretless as rl

WEIGHT = np.array([5.0, 4.0, 3.0, 6.0, 2.0, 7.0, 4.0, 3.0])
VOLUME = np.array([3.0, 6.0, 2.0, 4.0, 5.0, 2.0, 3.0, 4.0])


def data(days: int) -> tuple[np.ndarray, np.ndarray]:
    """Three features per day, and revenues that are not linear in them."""
    generator = np.random.default_rng(0)
    features = generator.normal(size=(days, 3))
    return features, np.exp(0.5 * features @ generator.normal(size=(3, 8)) + 2.0)


def main() -> dict[str, float]:
    milp = rl.MILP(np.stack([WEIGHT, VOLUME]), row_upper=[15.0, 12.0])  # variables are binary by default
    problem = rl.Problem(milp, sense="max")
    train, test = rl.Dataset.solve(problem, *data(150), progress=False).split(2 / 3)

    found = rl.auto(problem, train, epochs=15, progress=False)
    print(found.verdict)
    regrets = {
        "two-stage": rl.evaluate(found.two_stage, test, problem).relative_regret,
        "auto": rl.evaluate(found.model, test, problem).relative_regret,
    }

    figure, axes = plt.subplots(figsize=(5, 2))
    axes.barh(list(regrets), [100 * value for value in regrets.values()], color=["#6b7280", "#0072b2"])
    axes.set_xlabel("test regret, % of the optimal revenue")
    figure.tight_layout()
    return regrets


if __name__ == "__main__":
    main()
