"""
On a GPU
========

Move the model and the data to the device; the cache follows. The solver stays on the processor and is called for one
instance in twenty. Without a GPU the example runs on the CPU. Run it with::

    python examples/gpu.py
"""

from __future__ import annotations

import torch
from matplotlib import pyplot as plt

import regretless as rl


def main() -> str:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        print("no GPU found: the same lines run on the CPU")
    loaded = rl.load("synthetic-knapsack-60", days=200)
    train = loaded.train
    x, costs, solutions = (part.float().to(device) for part in (train.features, train.costs, train.solutions))
    model = loaded.model(0).to(device)
    loss = rl.MAP(rl.SolutionCache(loaded.problem, solutions, p_solve=0.05, seed=0))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    losses = []
    for _ in range(10):
        total = 0.0
        for batch in torch.randperm(len(x), device=device).split(24):
            optimizer.zero_grad()
            value = loss(model(x[batch]), costs[batch], solutions[batch])
            value.backward()
            optimizer.step()
            total += float(value.detach()) * len(batch) / len(x)
        losses.append(total)
    result = rl.evaluate(model.cpu(), loaded.test, loaded.problem)
    print(f"trained on {device}: test regret {100 * result.relative_regret:.1f} % of the optimal value")

    _, axes = plt.subplots(figsize=(5, 2.4), layout="constrained")
    axes.plot(losses, color="#0072b2", marker="o")
    axes.set(xlabel="epoch", ylabel="training loss")
    return device


if __name__ == "__main__":
    main()
