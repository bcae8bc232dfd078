"""
Constraints that differ
=======================

Every day another crew is available, so every instance has constraints of its own. A family holds the models; its
cache never returns a solution that is infeasible for the instance. New members may be added after training. Run it
with::

    python examples/families.py
"""

from __future__ import annotations

import numpy as np
import torch
from matplotlib import pyplot as plt

import regretless as rl

HOURS = np.array([[4.0, 3.0, 5.0, 2.0, 6.0, 3.0]])  # of six jobs


def main() -> float:
    generator = np.random.default_rng(0)
    crews = np.array([8.0, 12.0, 16.0])  # hours that a small, a middle and a large crew have
    family = rl.Family([rl.MILP(HOURS, row_upper=hours) for hours in crews])
    problem = rl.Problem(family, sense="max")

    instance = generator.integers(0, 3, size=120)  # which crew is available on which day
    features = generator.normal(size=(120, 3))
    values = np.exp(0.6 * features @ generator.normal(size=(3, 6)) + 1)
    train, test = rl.Dataset.solve(problem, features, values, instance=instance, progress=False).split(2 / 3)
    trained = rl.train(problem, train, method="map-dc", start="two-stage", epochs=15, progress=False)
    relative = rl.evaluate(trained.model, test, problem).relative_regret
    print(f"test regret: {100 * relative:.1f} % of the optimal value")

    predicted = rl.predict(trained.model, test.features[:1]).repeat(3, 1)
    plans = problem.solve(predicted, instance=torch.arange(3)).decision.numpy()
    assert (plans @ HOURS[0] <= crews).all()
    _, axes = plt.subplots(figsize=(5, 2.2), layout="constrained")
    axes.imshow(plans, cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
    axes.set_yticks(range(3), [f"{hours:.0f} hours" for hours in crews])
    axes.set_xticks(range(6), [f"job {j}" for j in range(6)])
    axes.set_title("one prediction, three crews: chosen jobs", loc="left", fontsize=10)
    return relative


if __name__ == "__main__":
    main()
