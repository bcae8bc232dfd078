"""Problems with data from formulas: CPU milliseconds per exact solve in the standard settings, one thread.

python benchmarks/field_oracles.py
"""

from __future__ import annotations

import sys
from typing import Any

from measure import interleaved, line
from regretless.problems import load

# How many instances, and the milliseconds that one may take.
VECTORS: dict[str, tuple[int, float]] = {
    "shortest-path": (1000, 0.01),
    "multi-knapsack": (1000, 0.5),
    "travelling-salesman": (100, 10.0),
    "vehicle-routing": (10, 700.0),  # what Gurobi takes per instance in PyEPO's notebook
    "portfolio": (50, 20.0),
    "facility-location": (5, 2000.0),
    "random-lp": (50, 20.0),
    "top-k": (1000, 0.1),
}


def main() -> int:
    good = True
    for name, (count, limit) in VECTORS.items():
        loaded = load(name, train=count, test=1)
        costs = loaded.problem.to_minimization(loaded.train.costs)

        def job(problem: Any = loaded.problem, costs: Any = costs) -> None:
            problem.attempt(costs)

        seconds = interleaved({name: job}, repeats=3)[name]
        good &= line(f"{name}, milliseconds per solve", 1e3 * seconds / count, at_most=limit)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
