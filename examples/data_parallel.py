"""
Data-parallel training
======================

Every process (rank) takes a part of each batch, and all ranks share one solution cache. Run it with::

    torchrun --standalone --nproc-per-node=2 examples/data_parallel.py
    python examples/data_parallel.py        # alone
"""

from __future__ import annotations

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

import regretless as rl
from regretless.problems.knapsack.synthetic import knapsack_data, standardized


def main() -> tuple[float, float, int]:
    if "RANK" in os.environ:  # set by torchrun
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    features, values, weights = knapsack_data(days=100)
    problem = rl.Problem(rl.MILP([weights], row_upper=60), sense="max")
    data = rl.Dataset.solve(problem, standardized(features, 70), values, progress=False)
    train, test = data.split(0.7)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 1), nn.Flatten())
    before = rl.evaluate(model, test, problem).relative_regret

    # With fit(), the wrapper alone is enough: rl.fit(DistributedDataParallel(model), loss, train).
    # In a loop of your own, the cache is shared by one call.
    cache = rl.SolutionCache(problem, train.solutions, p_solve=0.05, seed=0).share()
    loss, wrapped = rl.MAP(cache), DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    tensors = TensorDataset(train.features, train.costs.float(), train.solutions.float())
    sampler = DistributedSampler(tensors, seed=0)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        for x, costs, solutions in DataLoader(tensors, batch_size=12, sampler=sampler):
            optimizer.zero_grad()
            loss(wrapped(x), costs, solutions).backward()
            optimizer.step()

    after = rl.evaluate(model, test, problem).relative_regret
    if dist.get_rank() == 0:
        print(f"ranks: {dist.get_world_size()}, solves in all: {cache.statistics.solves}, solutions: {len(cache)}")
        print(f"regret: {100 * before:.1f} % of the optimal value before training, {100 * after:.1f} % after")
    dist.destroy_process_group()
    return before, after, len(cache)


if __name__ == "__main__":
    main()
