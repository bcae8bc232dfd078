"""Certified gaps: their time over that of the look-up (knapsack) and of an exact solve of the MILP (energy).

The batch has 24 predictions. The time of a gap includes its look-up. REGRETLESS_DATA names the folder of the public
files; without it only the embedded knapsack is measured.

python benchmarks/gaps.py [--repeats 200] [--days 6]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import torch

from regretless.cache import LargestGap, SolutionCache
from regretless.errors import FileError
from regretless.problems import BenchmarkProblem, load
from regretless.solvers import EnginePool

BATCH = 24
MOST_LOOKUPS, MOST_OF_A_SOLVE, MOST_OPEN = 3.0, 0.02, 1e-4


def seconds(repeats: int, *works: Callable[[], object]) -> list[float]:
    """First decile of the seconds per call. The functions alternate, so that load affects all of them alike."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for work, mine in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            mine.append(time.perf_counter() - start)
    return [statistics.quantiles(mine, n=10)[0] for mine in times]


def predicted(loaded: BenchmarkProblem) -> torch.Tensor:
    """Minimizing costs of the test days, predicted by least squares."""

    def design(features: torch.Tensor) -> torch.Tensor:
        rows = features.reshape(-1, features.shape[-1]).to(torch.float64)
        return torch.cat([rows, torch.ones(len(rows), 1, dtype=torch.float64)], dim=1)

    costs = loaded.train.costs.reshape(-1, 1).to(torch.float64)
    weights = torch.linalg.lstsq(design(loaded.train.features), costs).solution
    found = (design(loaded.test.features) @ weights).reshape(loaded.test.costs.shape)
    return loaded.problem.to_minimization(found.to(torch.float32))


def prepared(loaded: BenchmarkProblem) -> tuple[SolutionCache, torch.Tensor]:
    """A cache in the state at the start of training, and predicted costs."""
    cache = SolutionCache(loaded.problem, loaded.train.solutions, policy=LargestGap(0.01))
    cache.prepare(loaded.problem.to_minimization(loaded.train.costs))
    return cache, predicted(loaded)


def knapsack(name: str, repeats: int) -> int:
    cache, costs = prepared(load(name))
    batch = costs[:BATCH]
    look_up, gaps = seconds(repeats, lambda: cache.look_up([batch]), lambda: cache.gaps(batch))
    times = f"look-up {1e6 * look_up:.0f} us, gaps {1e6 * gaps:.0f} us per batch of {BATCH}"
    print(f"{name}: {times}, ratio {gaps / look_up:.2f} (at most {MOST_LOOKUPS:g}), |S| = {len(cache)}", flush=True)
    return int(gaps / look_up > MOST_LOOKUPS)


def energy(name: str, repeats: int, days: int) -> int:
    loaded = load(name)
    cache, costs = prepared(loaded)
    assert loaded.problem.model is not None
    gaps = seconds(repeats, lambda: cache.gaps(costs[:BATCH]))[0] / BATCH
    plain = EnginePool(loaded.problem.model, engine="highs")
    start = time.perf_counter()
    plain.solve(costs[:days])
    solve = (time.perf_counter() - start) / days
    relaxed = EnginePool(loaded.problem.model.relax(), engine="highs").solve(costs.to(torch.float64)).solution
    lp = (relaxed * costs).sum(dim=1)
    assert cache.bound is not None
    open_ = ((lp - cache.bound(costs)) / lp.abs()).clamp(min=0.0)
    share, mean = gaps / solve, float(open_.mean())
    print(
        f"{name}: MILP {1e3 * solve:.0f} ms, gap {1e6 * gaps:.0f} us per instance, share {share:.2%} "
        f"(at most {MOST_OF_A_SOLVE:.0%}); bound below the LP optimum by {mean:.4%} on average "
        f"(under {MOST_OPEN:.2%}), equal to it on {float((open_ < 1e-9).double().mean()):.0%} of {len(costs)} days",
        flush=True,
    )
    return int(share > MOST_OF_A_SOLVE or mean >= MOST_OPEN)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--days", type=int, default=6, help="MILPs solved for comparison")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    missed = knapsack("synthetic-knapsack-120", arguments.repeats)
    try:
        missed += sum(knapsack(f"knapsack-{capacity}", arguments.repeats) for capacity in (60, 120, 180))
        missed += sum(energy(f"energy-{k}", arguments.repeats, arguments.days) for k in (1, 2, 3))
    except FileError as error:
        print(f"skipped: {error}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
