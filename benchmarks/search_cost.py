"""Solver time of a whole search against that of one run of SPO+ with a cache, where HiGHS solves.

The model chooses one of five levels for each of 48 half hours (240 binary variables) under four capacities. Both sides
pay for the labels of the training data. On top of them a search makes 1.5 exact solves per instance, or up to 3 where
its verdict is not clear, whatever the number of its settings is, and 25 for each of its linear models; 20 epochs of
SPO+ with 5 % solves make one. With fewer than 200 instances a search scores a larger part of them (50 at least), and
the ratio is higher: try ``--days 150``.

python benchmarks/search_cost.py [--days 300] [--repeats 2]

The same solves take up to half as long again from one minute to the next where others use the machine. So both sides
are measured in turn, and their seconds are added up over the repeats.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import torch

from measure import line
from regretless import MILP, Dataset, Problem, train
from regretless.runs.run_ledger import solve_ledger

SLOTS, LEVELS, CAPACITIES, FEATURES = 48, 5, 4, 6


def model(use: np.ndarray) -> MILP:
    """One level per half hour; the levels of twelve hours share a capacity."""
    n = SLOTS * LEVELS
    one, shared = np.zeros((SLOTS, n)), np.zeros((CAPACITIES, n))
    for t in range(SLOTS):
        part = slice(t * LEVELS, (t + 1) * LEVELS)
        one[t, part] = 1.0
        shared[t * CAPACITIES // SLOTS, part] = use[t]
    limits = np.floor(shared.sum(axis=1) / (2 * LEVELS))
    lower = np.concatenate([np.ones(SLOTS), np.full(CAPACITIES, -np.inf)])
    upper = np.concatenate([np.ones(SLOTS), limits])
    return MILP(np.concatenate([one, shared]), row_lower=lower, row_upper=upper)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    chance = np.random.default_rng(0)
    use = np.sort(chance.integers(1, 20, size=(SLOTS, LEVELS)), axis=1)
    use[:, 0] = 0
    features = chance.normal(size=(options.days, FEATURES))
    price = 10 + features @ chance.normal(size=(FEATURES, SLOTS))
    noise = chance.normal(size=(options.days, SLOTS, LEVELS))
    values = (price[:, :, None] * use + noise).reshape(options.days, -1)
    seconds, growth = (dict.fromkeys(("spo-cache", "auto"), 0.0) for _ in range(2))
    for method in options.repeats * ("spo-cache", "auto"):
        problem = Problem(model(use), sense="max", engine="highs")
        train(problem, Dataset.solve(problem, features, values), method=method)
        ledger = solve_ledger(problem)
        made = [f"{name} {one['solves']} in {one['seconds']:.1f} s" for name, one in ledger.items() if one["solves"]]
        print(f"{method}: {', '.join(made)}")
        total = sum(one["seconds"] for one in ledger.values())
        seconds[method] += total
        growth[method] += total - ledger["labels"]["seconds"]
    line("solver seconds of a search over those of one run, without labels", growth["auto"] / growth["spo-cache"])
    ratio = seconds["auto"] / seconds["spo-cache"]
    return 0 if line("solver seconds of a search over those of one run", ratio, at_most=2.0) else 1


if __name__ == "__main__":
    sys.exit(main())
