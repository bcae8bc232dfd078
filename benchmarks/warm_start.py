"""Exact solves by an engine, from the best decision found so far against from nothing: where does it pay?

The decisions are optima of training days, the costs to solve least-squares predictions of test days, as in training.
REGRETLESS_DATA names the folder of the public files; without it the embedded knapsack is measured alone.

python benchmarks/warm_start.py [--kept 60] [--days 12]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time

import torch

from gaps import predicted
from measure import line
from regretless.cache.warm_starts import WarmStarts
from regretless.errors import RegretlessError, SolveError
from regretless.milp import MILP
from regretless.problems import load
from regretless.solvers import EnginePool, make_engine


def measure(name: str, engine: str, kept: int, days: int) -> None:
    loaded = load(name)
    milp = loaded.problem.model
    assert isinstance(milp, MILP)
    # One engine each: some build their model anew after a start, which must not count for the other.
    solvers = make_engine(engine, milp), make_engine(engine, milp)
    starts = WarmStarts(milp.width, milp.n)
    starts.add(EnginePool(milp).solve(loaded.problem.to_minimization(loaded.train.costs[:kept]), decision=True), None)
    ratios = []
    for cost in predicted(loaded)[:days]:
        (start,) = starts.best(cost[None], None)
        objective = milp.objective(cost[None].to(torch.float64).numpy())[0]
        seconds = []
        for solver, begin in zip(solvers, (None, start), strict=True):
            before = time.process_time()
            outcome = solver.solve(objective, begin)
            if outcome.x is None:
                raise SolveError(f"{outcome.status}. {outcome.message}")
            seconds.append(time.process_time() - before)
        ratios.append(seconds[0] / seconds[1])
    line(f"{name}, {engine}: seconds of a cold solve over a warm one, median of {days} days", statistics.median(ratios))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=int, default=60, help="decisions to choose a start from")
    parser.add_argument("--days", type=int, default=12, help="solves to measure")
    options = parser.parse_args()
    for name in ("synthetic-knapsack-120", "energy-1", "energy-2", "energy-3"):
        for engine in ("highs", "scip", "gurobi"):
            try:
                measure(name, engine, options.kept, options.days)
            except RegretlessError as error:
                print(f"{name}, {engine} is left out: {error}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
