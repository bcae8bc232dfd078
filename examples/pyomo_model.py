"""
A model in Pyomo
================

Where to open clinics: the opening costs are predicted, and the constraints are those of a Pyomo model.
``Problem`` takes the model as it is: the variables of its objective are those whose costs are predicted. Run it with::

    pip install pyomo
    python examples/pyomo_model.py
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from matplotlib import pyplot as plt

import regretless as rl

TOWNS = range(9)
PLACE = np.random.default_rng(1).uniform(0, 10, size=(9, 2))
NEAR = np.linalg.norm(PLACE[:, None] - PLACE[None], axis=2) < 4.5


def clinics() -> pyo.ConcreteModel:
    """Every town has an open clinic nearby."""
    model = pyo.ConcreteModel()
    model.open = pyo.Var(TOWNS, domain=pyo.Binary)
    model.covered = pyo.Constraint(TOWNS, rule=lambda m, i: sum(m.open[j] for j in TOWNS if NEAR[i, j]) >= 1)
    model.cost = pyo.Objective(expr=sum(model.open[j] for j in TOWNS))  # predicted costs replace the coefficients
    return model


def main() -> float:
    problem = rl.Problem(clinics())
    generator = np.random.default_rng(0)
    features = generator.normal(size=(120, 4))
    costs = np.exp(0.5 * features @ generator.normal(size=(4, 9))) * 10
    train, test = rl.Dataset.solve(problem, features, costs, progress=False).split(2 / 3)
    trained = rl.train(problem, train, method="map-dc", start="two-stage", epochs=20, progress=False)
    relative = rl.evaluate(trained.model, test, problem).relative_regret
    print(f"plans cost {100 * relative:.1f} % more than the best ones")

    chosen = problem.solve(rl.predict(trained.model, test.features[:1])).decision[0].numpy() > 0.5
    _, axes = plt.subplots(figsize=(4, 3.4))
    for i, j in zip(*np.nonzero(NEAR), strict=True):
        axes.plot(*PLACE[[i, j]].T, color="#d5d9de", linewidth=0.7, zorder=1)
    axes.scatter(*PLACE.T, color=np.where(chosen, "#0072b2", "#ffffff"), edgecolor="#333333", s=90, zorder=2)
    axes.set_title("open clinics of the first test day", loc="left", fontsize=10)
    axes.set_axis_off()
    return relative


if __name__ == "__main__":
    main()
