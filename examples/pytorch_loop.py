"""
Your own PyTorch loop
=====================

Two additional lines make an existing training loop decision-focused, with a solution cache. Run it with::

    python examples/pytorch_loop.py
"""

from __future__ import annotations

import torch
from matplotlib import pyplot as plt
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import regretless as rl
from regretless.problems.knapsack.synthetic import knapsack_data, standardized


def main() -> tuple[float, float]:
    features, values, weights = knapsack_data(days=100)
    problem = rl.Problem(rl.MILP([weights], row_upper=60), sense="max", workers=2)
    data = rl.Dataset.solve(problem, standardized(features, 67), values, progress=False)
    train, test = data.split(2 / 3)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 1), nn.Flatten())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    tensors = TensorDataset(train.features, train.costs.float(), train.solutions.float())
    loader = DataLoader(tensors, batch_size=24, shuffle=True)

    # These two lines are new: the cache, and a loss that uses cached solutions instead of the solver.
    cache = rl.SolutionCache(problem, train.solutions, p_solve=0.05, seed=0)
    loss_function = rl.MAP(cache)

    before = rl.evaluate(model, test, problem).relative_regret
    for _ in range(10):
        for x, costs, solutions in loader:
            optimizer.zero_grad()
            loss = loss_function(model(x), costs, solutions)
            loss.backward()
            optimizer.step()

    after = rl.evaluate(model, test, problem).relative_regret
    plt.figure(figsize=(5, 2), layout="constrained")
    plt.barh(["before", "after"], [100 * before, 100 * after], color=["#6b7280", "#0072b2"])
    plt.xlabel("test regret, % of the optimal value")
    print(f"{10 * len(train)} predictions, {cache.statistics.solves} solved, {len(cache)} solutions in the cache")
    print(f"test regret: {100 * before:.1f} % of the optimal value before training, {100 * after:.1f} % after")
    return before, after


if __name__ == "__main__":
    main()
