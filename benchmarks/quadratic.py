"""What quadratic models bring to ``auto``: test regret with linear models only, and with both.

python benchmarks/quadratic.py [--seeds 3]

Shortest paths on a grid of 5 x 5 with noise 0.5, at degrees 1 to 6 and 100 or 1,000 training instances; 1,000 test
instances. Costs of degree 1 are linear in the features. Nothing is chosen on test data.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys

import torch

from measure import line
from regretless import auto, evaluate
from regretless.problems import load


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| degree | instances | two-stage, linear | auto, linear | auto |")
    print("|---:|---:|---:|---:|---:|")
    ratios, worst = [], 0.0
    for degree in (1, 2, 4, 6):
        for n in (100, 1000):
            rows = [_regrets(degree, n, seed) for seed in range(options.seeds)]
            two_stage, linear, both = (statistics.fmean(column) for column in zip(*rows, strict=True))
            print(f"| {degree} | {n} | {two_stage:.2f} % | {linear:.2f} % | {both:.2f} % |", flush=True)
            ratios.append(math.log(both / linear))
            worst = max(worst, both / linear)
    line("largest ratio of a cell", worst)
    ratio = math.exp(statistics.fmean(ratios))
    return 0 if line("regret of auto over that with linear models, geometric mean", ratio, at_most=1) else 1


def _regrets(degree: int, n: int, seed: int) -> tuple[float, float, float]:
    """Test regrets in per cent: linear two-stage, a search with linear models, and one without a model."""
    loaded = load("shortest-path", deg=degree, noise=0.5, seed=seed, train=n, test=1000)
    linear = auto(loaded.problem, loaded.train, loaded.model, seed=seed, progress=False)
    both = auto(loaded.problem, loaded.train, seed=seed, progress=False)
    models = linear.two_stage, linear.model, both.model
    a, b, c = (100 * evaluate(model, loaded.test, loaded.problem).relative_regret for model in models)
    return a, b, c


if __name__ == "__main__":
    sys.exit(main())
