"""What a cluster of many cores would gain: a simulation of how batches are cut and sent, with measured overheads.

python benchmarks/cluster_simulation.py
"""

from __future__ import annotations

import heapq
import sys

import numpy as np

from regretless.solvers.ray_actors import slice_size, stays_local

# Measured by benchmarks/cluster.py and a loop of empty calls, on 2 cores: a call takes 1.3 ms, of which the driver is
# busy for 0.5 ms. The driver sends one slice after another.
CALL, DRIVER = 0.0013, 0.0005
WORKERS = (2, 16, 128, 1000)
SOLVES = (0.001, 0.01, 0.1, 1.0, 10.0)
BATCHES = (24, 552, 10_000)


def batch_seconds(times: np.ndarray, workers: int) -> float:
    """Seconds for a batch of solves with these times, by the rule of ``solvers.slices``."""
    mean = float(times.mean())
    if stays_local(len(times), mean):
        return float(times.sum())
    sent, now, finished = 0, 0.0, 0.0
    idle = [0.0] * workers  # when each worker becomes free
    while sent < len(times):
        size = slice_size(len(times) - sent, workers, mean)
        now = max(now, heapq.heappop(idle)) + DRIVER
        end = now + (CALL - DRIVER) + float(times[sent : sent + size].sum())
        heapq.heappush(idle, end)
        sent, finished = sent + size, max(finished, end)
    return finished


def main() -> int:
    generator = np.random.default_rng(0)
    print(f"speed-up over one core; solve times exponential, {1e3 * CALL:g} ms per call, {1e3 * DRIVER:g} ms driver")
    print("solve      batch  " + "".join(f"{workers:>8}" for workers in WORKERS))
    for seconds in SOLVES:
        for batch in BATCHES:
            times = generator.exponential(seconds, size=batch)
            gains = [times.sum() / batch_seconds(times, workers) for workers in WORKERS]
            print(f"{1e3 * seconds:>6g} ms {batch:>7}  " + "".join(f"{gain:>8.1f}" for gain in gains))
    return 0


if __name__ == "__main__":
    sys.exit(main())
