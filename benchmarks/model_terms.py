"""What terms bring to ``auto``: test regret with plain linear models only, and with those that have terms as well.

python benchmarks/model_terms.py [--seeds 3]

Products of features: shortest paths on a grid of 5 x 5 with noise 0.5, at degrees 1 to 6 and 100 or 1,000 training
instances; 1,000 test instances. Costs of degree 1 are linear in the features. Intercepts of variables: the embedded
knapsacks, whose items have weights that no feature tells. Splines: the workshop, whose prices rise steeply where the
demand is high. Nothing is chosen on test data.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys

import torch

from measure import line
from regretless import auto, evaluate
from regretless.benchmark_problem import BenchmarkProblem
from regretless.problems import load


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(parser.parse_args().seeds)
    torch.set_num_threads(1)
    print("| problem | instances | two-stage, plain | auto, plain | two-stage | auto |")
    print("|---|---:|---:|---:|---:|---:|")
    ratios = []
    for degree in (1, 2, 4, 6):
        for n in (100, 1000):
            draws = [load("shortest-path", deg=degree, noise=0.5, seed=seed, train=n, test=1000) for seed in seeds]
            ratios.append(_row(f"shortest path, degree {degree}", n, draws))
    for capacity in (60, 120, 180):
        for days in (150, 789):
            loaded = load(f"synthetic-knapsack-{capacity}", days=days)
            ratios.append(_row(f"knapsack, capacity {capacity}", len(loaded.train), [loaded]))
    ratios += [_row("workshop", n, [load("workshop", train=n, seed=seed) for seed in seeds]) for n in (48, 96, 192)]
    line("largest ratio of a row", max(ratios))
    ratio = math.exp(statistics.fmean(map(math.log, ratios)))
    return 0 if line("regret of auto over that with plain models, geometric mean", ratio, at_most=1) else 1


def _row(name: str, n: int, draws: list[BenchmarkProblem]) -> float:
    """Print mean test regrets in percent, and return that of a search with terms over that without."""
    rows = []
    for seed, loaded in enumerate(draws):
        plain, both = (
            auto(loaded.problem, loaded.train, terms=terms, seed=seed, progress=False) for terms in ("none", None)
        )
        models = (plain.two_stage, plain.model, both.two_stage, both.model)
        rows.append([100 * evaluate(model, loaded.test, loaded.problem).relative_regret for model in models])
    means = [statistics.fmean(column) for column in zip(*rows, strict=True)]
    print(f"| {name} | {n} | {' | '.join(f'{mean:.2f} %' for mean in means)} |", flush=True)
    return means[-1] / means[1]


if __name__ == "__main__":
    sys.exit(main())
