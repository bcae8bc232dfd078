"""
Known and predicted costs
=========================

A producer sells energy. The price of energy is predicted; the cost to start a machine is known. Known costs are the
``fixed_cost``: they are part of every decision, loss and regret, and no model has to learn them. Run it with::

    python examples/partial_costs.py
"""

from __future__ import annotations

import numpy as np
import torch
from matplotlib import pyplot as plt

import regretless as rl

HOURS, MACHINES = 6, 2
POWER, START = np.array([4.0, 7.0]), np.array([30.0, 80.0])


def producer() -> rl.MILP:
    """Variables: on[m, t], then start[m, t]. A machine starts when it is on and was off in the hour before."""
    n = MACHINES * HOURS
    rows, upper = [], []
    for m in range(MACHINES):
        for t in range(HOURS):
            row = np.zeros(2 * n)  # on[t] - on[t-1] - start[t] <= 0
            row[m * HOURS + t], row[n + m * HOURS + t] = 1.0, -1.0
            if t:
                row[m * HOURS + t - 1] = -1.0
            rows.append(row)
            upper.append(0.0)
    # Six prices instead of 24 costs: the energy sold in hour t is the sum over the machines.
    energy = np.zeros((HOURS, 2 * n))
    for m in range(MACHINES):
        energy[np.arange(HOURS), m * HOURS + np.arange(HOURS)] = POWER[m]
    known = np.concatenate([np.repeat([-2.0, -1.0], HOURS), np.repeat(-START, HOURS)])  # upkeep, starts
    return rl.MILP(np.array(rows), row_upper=np.array(upper), cost_map=energy, fixed_cost=known)


def main() -> float:
    problem = rl.Problem(producer(), sense="max")
    print(f"{problem.model.n} variables, {problem.dimension} predicted prices, known costs in one extra coordinate")
    generator = np.random.default_rng(0)
    features = generator.normal(size=(120, HOURS, 3))
    prices = 8 * np.exp(0.6 * features @ np.array([1.0, -0.5, 0.3])) - 6
    train, test = rl.Dataset.solve(problem, features, prices, progress=False).split(0.7)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten())
    cache = rl.SolutionCache(problem, train.solutions, p_solve=0.1, seed=0)
    rl.fit(model, rl.MAP(cache), train, epochs=15, lr=0.3, batch_size=16, progress=False)
    result = rl.evaluate(model, test, problem)
    print(f"test regret: {100 * result.relative_regret:.1f} % of the optimal profit")
    with torch.no_grad():
        answer = problem.solve(model(test.features[:1]))
    on = answer.decision[0, : MACHINES * HOURS].reshape(MACHINES, HOURS).int()
    plt.figure(figsize=(5, 2.2), layout="constrained")
    for m in range(MACHINES):
        plt.step(range(HOURS), on[m] + 1.4 * m, where="mid", label=f"machine {m}")
    plt.yticks([])
    plt.xlabel("hour")
    plt.legend(frameon=False)
    print("first test day, on or off:", on.tolist(), f"expected profit {answer.objective.item():.0f}")
    return result.relative_regret


if __name__ == "__main__":
    main()
