"""
A model in CPMpy
================

Assign nurses to shifts, with a predicted cost for every pair. Run it with::

    pip install cpmpy
    python examples/own_milp_cpmpy.py
"""

from __future__ import annotations

import cpmpy as cp
import numpy as np
import torch
from matplotlib import pyplot as plt

import regretless as rl
from regretless.modeling import read

NURSES, SHIFTS = 5, 4


def model() -> cp.Model:
    """Every shift has one nurse. A nurse works at most two shifts, and never both the first and the last."""
    works = cp.boolvar(shape=(NURSES, SHIFTS), name="works")
    rules = [cp.sum(works[:, s]) == 1 for s in range(SHIFTS)]
    rules += [cp.sum(works[n, :]) <= 2 for n in range(NURSES)]
    rules += [works[n, 0] + works[n, SHIFTS - 1] <= 1 for n in range(NURSES)]
    # The objective marks the variables that have costs. Predicted costs replace its coefficients.
    return cp.Model(rules, minimize=cp.sum(works))


def data(days: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Four features, and costs of every pair that are not linear in them."""
    generator = np.random.default_rng(0)
    features = generator.normal(size=(days, 4))
    mix = generator.normal(size=(4, NURSES * SHIFTS))
    costs = np.exp(0.4 * features @ mix) * 20 + generator.normal(size=(days, NURSES * SHIFTS))
    return features, costs


def main() -> tuple[float, float]:
    milp, sense, names = read(model(), "works")
    problem = rl.Problem(milp, sense=sense)
    features, costs = data()
    train, test = rl.Dataset.solve(problem, features, costs, progress=False).split(0.7)

    torch.manual_seed(0)
    net = torch.nn.Linear(4, len(names))
    before = rl.evaluate(net, test, problem).relative_regret
    cache = rl.SolutionCache(problem, train.solutions, p_solve=0.05, seed=0)
    rl.fit(net, rl.MAP(cache), train, epochs=30, lr=0.5, batch_size=16, progress=False)
    after = rl.evaluate(net, test, problem).relative_regret
    print(f"schedules cost {100 * before:.0f} % more than the optimum before training, {100 * after:.1f} % after")
    print(f"{30 * len(train)} predictions, {cache.statistics.solves} of them solved")

    with torch.no_grad():
        plan = problem.solve(net(test.features[:1])).decision[0]
    plt.figure(figsize=(4, 2.6), layout="constrained")
    plt.imshow(plan.reshape(NURSES, SHIFTS), cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
    plt.xticks(range(SHIFTS), [f"shift {s}" for s in range(SHIFTS)])
    plt.yticks(range(NURSES), [f"nurse {n}" for n in range(NURSES)])
    print("first test day:", [name for name, value in zip(milp.names, plan, strict=True) if value])
    return before, after


if __name__ == "__main__":
    main()
