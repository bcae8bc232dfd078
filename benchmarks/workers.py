"""Two HiGHS workers against one on the MILP of energy-1 in wall time, and the result of a short probe of options.

python benchmarks/workers.py      (needs an idle machine with two cores)
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
import torch

from measure import line
from regretless.errors import FileError
from regretless.problems import irish_market
from regretless.problems.energy import formulate
from regretless.problems.energy.load import energy_instance
from regretless.solvers import EnginePool
from regretless.solvers.probe import probe

VECTORS, REPEATS = 24, 5


def main() -> int:
    try:
        prices = irish_market.energy_data()[1]
        model = formulate(energy_instance("energy-1"))
    except FileError as error:
        print(f"skipped: {error}")
        return 0
    costs = torch.as_tensor(prices[np.linspace(0, len(prices) - 1, VECTORS).astype(int)])
    pools = {workers: EnginePool(model, workers=workers) for workers in (1, 2)}
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for pool in pools.values():
        pool.solve(costs[:4])
    for _ in range(REPEATS):
        for workers, pool in pools.items():
            start = time.perf_counter()
            pool.solve(costs)
            seconds[workers].append(time.perf_counter() - start)
    gain = statistics.median(seconds[1]) / statistics.median(seconds[2])
    good = line("throughput of two HiGHS workers over one, energy-1", gain, at_least=1.6)
    for trial in probe(model, costs[:6]):
        print(f"probe, energy-1: {1e3 * trial.mean_seconds:.0f} ms per solve with {dict(trial.options) or 'defaults'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
