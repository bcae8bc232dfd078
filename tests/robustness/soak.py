"""Train for long with a full cache and watch the memory: ``python -m tests.robustness.soak INSTANCES CAPACITY``."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

import torch

from regretless.cache import SolutionCache
from regretless.losses import MAP
from regretless.problems import load
from regretless.training import Callback, fit

BATCH = 256


def resident() -> int:
    """Bytes of memory that this process holds now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmRSS in /proc/self/status")


class Watch(Callback):
    """Notes the memory some thirty times."""

    def __init__(self, cache: SolutionCache, epochs: int) -> None:
        self.cache, self.every, self.memory, self.sizes = cache, max(1, epochs // 30), [], []

    def on_epoch(self, state) -> None:
        if state.epoch % self.every == 0:
            gc.collect()
            self.memory.append(resident())
            self.sizes.append(len(self.cache))


class Noisy(torch.nn.Module):
    """A model that never predicts the same twice, so that solves keep finding new solutions."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner, self.dropout = inner, torch.nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(self.dropout(x))


def main(instances: int, capacity: int) -> dict[str, object]:
    """Train on as many instances; every twentieth is solved, so that the cache fills up and then evicts."""
    loaded = load("synthetic-knapsack-60", days=700)
    train = loaded.train
    cache = SolutionCache(loaded.problem, train.solutions, p_solve=0.05, capacity=capacity, seed=0)
    epochs = -(-instances // len(train))
    watch, model = Watch(cache, epochs), Noisy(loaded.model(0))
    fit(model, MAP(cache), train, epochs=epochs, lr=0.1, batch_size=BATCH, callbacks=[watch], progress=False)
    half = watch.memory[len(watch.memory) // 2 :]
    # The allocator takes and returns some ten MiB at a time; a leak raises the least that is held as well.
    third, fourth = half[: len(half) // 2], half[len(half) // 2 :]
    return {
        "instances": epochs * len(train),
        "epochs": epochs,
        "solves": cache.statistics.solves,
        "evicted": cache.store.evicted,
        "cache_size": len(cache),
        "full_at": next((k / len(watch.sizes) for k, size in enumerate(watch.sizes) if size == capacity), None),
        "first_mib": watch.memory[0] / 2**20,
        "half_mib": half[0] / 2**20,
        "last_mib": half[-1] / 2**20,
        "largest_mib": max(half) / 2**20,
        "growth": min(fourth) / min(third) - 1,
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
