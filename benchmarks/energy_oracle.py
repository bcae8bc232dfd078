"""Energy-cost-aware scheduling: CPU time of the plain HiGHS MILP over that of the special oracle, one thread.

The costs are real prices of days from all years, and noisy predictions of them, in equal parts. The oracle starts
without stored solutions. REGRETLESS_DATA names the folder of the public files:

python benchmarks/energy_oracle.py [--vectors 100] [--instances energy-1 energy-2 energy-3]
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import torch

from regretless.errors import FileError
from regretless.problems import irish_market
from regretless.problems.energy import EnergyOracle, formulate
from regretless.problems.energy.load import NAMES, energy_instance
from regretless.solvers import EnginePool
from regretless.types import Backend

TARGETS = {"energy-1": 100, "energy-2": 5, "energy-3": 300}


def cpu_seconds(backend: Backend, costs: torch.Tensor) -> tuple[float, torch.Tensor]:
    """Mean CPU seconds per cost vector, solved one at a time, and the optimal values."""
    backend.solve(costs[:1])  # build the model, which is not part of a solve
    start = time.process_time()
    solutions = [backend.solve(row[None]).solution for row in costs]
    seconds = (time.process_time() - start) / len(costs)
    return seconds, (torch.cat(solutions) * costs).sum(dim=1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=100, help="cost vectors per instance")
    parser.add_argument("--instances", nargs="+", default=list(NAMES))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    try:
        prices = irish_market.energy_data()[1]
        instances = {name: energy_instance(name) for name in arguments.instances}
    except FileError as error:
        print(f"skipped: {error}")
        return 0
    days = np.linspace(0, len(prices) - 1, (arguments.vectors + 1) // 2).astype(int)
    noisy = prices[days] + np.random.default_rng(0).normal(0, 20, (len(days), prices.shape[1]))
    costs = torch.as_tensor(np.concatenate([prices[days], noisy])[: arguments.vectors])
    missed = 0
    for name, instance in instances.items():
        model = formulate(instance)
        special, ours = cpu_seconds(EnergyOracle(instance, model=model), costs)
        plain, theirs = cpu_seconds(EnginePool(model, engine="highs"), costs)
        worst = float(((ours - theirs).abs() / theirs.abs()).max())
        batch = EnergyOracle(instance, model=model)
        start = time.process_time()
        batch.solve(costs)
        together = (time.process_time() - start) / len(costs)
        target = TARGETS.get(name, 1)
        missed += plain / special < target or worst > 1e-9
        times = f"HiGHS {1e3 * plain:.1f} ms, oracle {1e3 * special:.3f} ms ({1e3 * together:.3f} ms in one batch)"
        ratio = f"ratio {plain / special:.0f} (at least {target})"
        print(f"{name}: {times}, {ratio}, values differ by {worst:.0e} at most, {len(costs)} vectors", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
