"""Regret with 5 % of the solves beside 100 %, for a family whose members have their own capacities and known costs.

A small cache is worth its name only if the solutions of one member serve the others.

python benchmarks/family_cache.py [--seeds 3] [--instances 200] [--items 12] [--method map-dc]
"""

from __future__ import annotations

import argparse

import numpy as np
import torch

import regretless as rl


def family_problem(seed: int, instances: int, items: int) -> tuple[rl.Problem, rl.Dataset, rl.Dataset]:
    """A knapsack with two rows: sides and known costs per instance, costs that no linear model predicts exactly."""
    generator = np.random.default_rng(seed)
    weights = generator.integers(3, 15, (2, items)).astype(float)
    n = 2 * instances
    sides = generator.uniform(0.3, 0.7, (n, 1)) * weights.sum(axis=1)
    known = -generator.uniform(0.0, 6.0, (n, items))
    problem = rl.Problem(rl.Family.vary(rl.MILP(weights), row_upper=sides, fixed_cost=known), sense="max")
    x = generator.normal(size=(n, 5))
    y = x @ generator.normal(size=(5, items))
    costs = 8 + 2 * (y + 0.3 * y**2) * generator.uniform(0.7, 1.3, (n, items))
    data = rl.Dataset.solve(problem, x, costs, instance=range(n), progress=False)
    return problem, data[:instances], data[instances:]


def regret_ratio(seed: int, instances: int, items: int, method: str, epochs: int = 20) -> tuple[float, float]:
    """Relative test regrets with 5 % and with 100 % of the solves."""
    problem, train, test = family_problem(seed, instances, items)
    found = []
    for p_solve in (0.05, 1.0):
        model = rl.train(
            problem, train, method=method, seed=0, epochs=epochs, lr=0.05, p_solve=p_solve, progress=False
        ).model
        found.append(rl.evaluate(model, test, problem).relative_regret)
    return found[0], found[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--instances", type=int, default=200)
    parser.add_argument("--items", type=int, default=12)
    parser.add_argument("--method", default="map-dc")
    given = parser.parse_args()
    torch.set_num_threads(1)
    few, every = 0.0, 0.0
    for seed in range(given.seeds):
        a, b = regret_ratio(seed, given.instances, given.items, given.method)
        few, every = few + a, every + b
        print(f"seed {seed}: relative regret {a:.4f} with 5 % of the solves, {b:.4f} with 100 %, ratio {a / b:.3f}")
    print(f"ratio of the means: {few / every:.3f}")


if __name__ == "__main__":
    main()
