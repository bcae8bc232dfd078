"""Overhead of the cache: NCE for a small and a large S, insertion, and a cached epoch over a plain epoch.

python benchmarks/foundation.py
"""

from __future__ import annotations

import sys

import torch

from measure import interleaved, line
from regretless import MAP, NCE, Problem, SolutionCache, TwoStage, fit
from regretless.problems import load


def nce_is_flat() -> bool:
    """NCE loss and gradient at |S| = 100,000 over |S| = 100 (d = 500, batch 32)."""
    generator = torch.Generator().manual_seed(0)
    problem = Problem(oracle=lambda c: c, dimension=500)
    jobs = {}
    for size in (100, 100_000):
        rows = (torch.rand(size, 500, generator=generator) < 0.3).float()
        loss = NCE(SolutionCache(problem, rows, p_solve=0.0))
        predicted = torch.randn(32, 500, generator=generator).requires_grad_()
        true, best = torch.randn(32, 500, generator=generator), rows[:32]

        def step(loss: NCE = loss, predicted: torch.Tensor = predicted, true=true, best=best) -> None:
            predicted.grad = None
            loss(predicted, true, best).backward()

        jobs[str(size)] = step
    seconds = interleaved(jobs, repeats=15, calls=50)
    return line("NCE with gradient, |S| = 100,000 over |S| = 100", seconds["100000"] / seconds["100"], at_most=1.5)


def insertion_is_fast() -> bool:
    """Insertion of 32 new solutions into 50,000 of length 500, against the all-pairs L1 distance of other libraries."""
    generator = torch.Generator().manual_seed(0)
    rows = (torch.rand(50_000, 500, generator=generator) < 0.3).float()
    cache = SolutionCache(Problem(oracle=lambda c: c, dimension=500), rows)
    fresh = iter((torch.rand(32, 500, generator=generator) < 0.3).float() for _ in range(10_000))

    def ours() -> None:
        cache.add(next(fresh))

    def all_pairs() -> None:
        new = next(fresh)
        seen = torch.cdist(new, rows, p=1).min(dim=1).values == 0
        torch.cat([rows, new[~seen]])

    seconds = interleaved({"ours": ours, "all pairs": all_pairs}, repeats=5)
    return line("insertion, all-pairs L1 over ours", seconds["all pairs"] / seconds["ours"], at_least=100)


def cached_epoch_is_cheap() -> bool:
    """A cached MAP epoch (K-120, 552 days, batch 24, p_solve 5 %) against a two-stage epoch with the same batches."""
    loaded = load("synthetic-knapsack-120")
    models = {name: loaded.model(0) for name in ("map", "two-stage")}
    cache = SolutionCache(loaded.problem, loaded.train.solutions, p_solve=0.05)
    losses = {"map": MAP(cache), "two-stage": TwoStage()}

    def epochs(name: str) -> None:
        fit(models[name], losses[name], loaded.train, epochs=5, batch_size=24, progress=False)

    seconds = interleaved({name: lambda name=name: epochs(name) for name in models}, repeats=9)
    return line("cached MAP epoch over a two-stage epoch", seconds["map"] / seconds["two-stage"], at_most=3)


if __name__ == "__main__":
    sys.exit(0 if all([nce_is_flat(), insertion_is_fast(), cached_epoch_is_cheap()]) else 1)
