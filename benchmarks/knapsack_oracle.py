"""Knapsack: CPU time of the plain HiGHS MILP over that of the special oracle, one thread, embedded data.

python benchmarks/knapsack_oracle.py
"""

from __future__ import annotations

import sys

from measure import interleaved, line
from regretless.problems import load

VECTORS = 120


def main() -> int:
    good = True
    for capacity in (60, 120, 180):
        name = f"synthetic-knapsack-{capacity}"
        special, plain = load(name, days=200), load(name, days=200, engine="highs")
        costs = special.problem.to_minimization(special.train.costs[:VECTORS])
        jobs = {
            "special": lambda problem=special.problem, costs=costs: problem.attempt(costs),
            "plain": lambda problem=plain.problem, costs=costs: problem.attempt(costs),
        }
        seconds = interleaved(jobs, repeats=3)
        each = 1e6 * seconds["special"] / VECTORS
        what = f"{name}, plain HiGHS over the oracle ({each:.1f} microseconds per solve)"
        good &= line(what, seconds["plain"] / seconds["special"], at_least=100)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
