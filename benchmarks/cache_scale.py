"""The cache at scale: growth, look-up and memory, compared with one matrix product over S.

python benchmarks/cache_scale.py
"""

from __future__ import annotations

import resource
import sys
import time

import torch

from measure import interleaved, line
from regretless import Problem, SolutionCache
from regretless.cache import SolutionStore

MILLION = 1_000_000


def growth_is_linear() -> bool:
    """Growth to 10^6 solutions with d = 48 in batches of 32: time of the second half over the first."""
    cache = SolutionCache(Problem(oracle=lambda c: c, dimension=48))
    generator = torch.Generator().manual_seed(0)
    halves = []
    for _ in range(2):
        batches = (torch.rand(MILLION // 2, 48, generator=generator) < 0.5).float().split(32)
        start = time.process_time()
        for batch in batches:
            cache.add(batch)
        halves.append(time.process_time() - start)
    print(f"growth to {len(cache):,} solutions: {1e6 * sum(halves) / MILLION:.1f} microseconds per solution")
    return line("growth, second half over first half", halves[1] / halves[0], at_most=1.3)


def look_up_is_one_product() -> bool:
    """Look-up at |S| = 10^6, d = 48, batch 32: time over the matrix product alone, and extra memory."""
    store = SolutionStore(48)
    generator = torch.Generator().manual_seed(1)
    store.add((torch.rand(MILLION, 48, generator=generator) < 0.5).float())
    costs = torch.randn(32, 48, generator=generator)
    rows = store.rows
    out = torch.empty(32, MILLION)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = store.look_up(costs)
    extra = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    jobs = {"look-up": lambda: store.look_up(costs), "product": lambda: torch.mm(costs, rows.T, out=out)}
    seconds = interleaved(jobs, repeats=11)
    print(f"look-up at |S| = 10^6, d = 48, batch 32: {1e3 * seconds['look-up']:.0f} ms")
    assert torch.equal(found, (costs @ rows.T).argmin(dim=1))
    good = line("look-up over the matrix product alone", seconds["look-up"] / seconds["product"], at_most=1.5)
    return line("look-up, extra memory in MB", extra, at_most=256) and good


def table() -> None:
    """Milliseconds of insertion (32 rows) and look-up (batch 32) over sizes and widths."""
    print("      |S|      d   insert 32 (ms)   look up 32 (ms)")
    generator = torch.Generator().manual_seed(2)
    for width in (48, 500, 2500):
        for size in (100, 10_000, 100_000):
            store = SolutionStore(width)
            for part in range(0, size, 10_000):
                store.add((torch.rand(min(10_000, size - part), width, generator=generator) < 0.5).float())
            fresh = iter([(torch.rand(32, width, generator=generator) < 0.5).float() for _ in range(20)])
            costs = torch.randn(32, width, generator=generator)
            jobs = {"add": lambda s=store, f=fresh: s.add(next(f)), "find": lambda s=store, c=costs: s.look_up(c)}
            seconds = interleaved(jobs, repeats=5)
            print(f"{size:>9,} {width:>6} {1e3 * seconds['add']:>16.2f} {1e3 * seconds['find']:>17.2f}", flush=True)


if __name__ == "__main__":
    results = [growth_is_linear(), look_up_is_one_product()]
    table()
    sys.exit(0 if all(results) else 1)
