"""
Accelerate on several processes
===============================

All processes share one solution cache: what one of them solves, all can look up. Run it with::

    pip install accelerate
    torchrun --standalone --nproc-per-node=2 examples/accelerate_ranks.py      # or accelerate launch
    python examples/accelerate_ranks.py        # alone
"""

from __future__ import annotations

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import regretless as rl
from regretless.problems.knapsack.synthetic import knapsack_data, standardized


def main() -> tuple[float, float]:
    accelerator = Accelerator(cpu=True)
    features, values, weights = knapsack_data(days=100)
    problem = rl.Problem(rl.MILP([weights], row_upper=60), sense="max")
    data = rl.Dataset.solve(problem, standardized(features, 70), values, progress=False)
    train, test = data.split(0.7)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 1), nn.Flatten())
    before = rl.evaluate(model, test, problem).relative_regret

    cache = rl.SolutionCache(problem, train.solutions, p_solve=0.05, seed=0)
    if accelerator.num_processes > 1:
        cache.share()
    loss = rl.MAP(cache)
    tensors = TensorDataset(train.features, train.costs.float(), train.solutions.float())
    wrapped, optimizer, batches = accelerator.prepare(
        model, torch.optim.Adam(model.parameters(), lr=0.5), DataLoader(tensors, batch_size=12, shuffle=True)
    )
    for _ in range(5):
        for x, costs, solutions in batches:
            optimizer.zero_grad()
            accelerator.backward(loss(wrapped(x), costs, solutions))
            optimizer.step()

    after = rl.evaluate(accelerator.unwrap_model(wrapped), test, problem).relative_regret
    ranks, solves = accelerator.num_processes, cache.statistics.solves
    accelerator.print(f"ranks: {ranks}, solves in all: {solves}, solutions: {len(cache)}")
    accelerator.print(f"regret: {100 * before:.1f} % of the optimal value before training, {100 * after:.1f} % after")
    return before, after


if __name__ == "__main__":
    main()
