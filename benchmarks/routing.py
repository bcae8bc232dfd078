"""Vehicle routing with 20 customers (PyEPO's notebook 04) with at most a tenth of the solves of SPO+.

python benchmarks/routing.py [--store FOLDER]

PyEPO's notebook trains SPO+ for 10 epochs of 1,000 instances: 10,000 solves, 5.88 % regret; CaVE+ reaches 5.44 %. Here
training starts from two-stage, spends 1,000 solves on one epoch of SPO+ whose solutions fill the cache, and continues
over the cache alone. Nothing is chosen on test data: the settings were written down before the first test.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from measure import line
from regretless import Bernoulli, SolutionCache, evaluate, fit
from regretless.problems import load
from regretless.training.methods import build_loss
from regretless.training.two_stage import fit_two_stage

SOLVES_OF_SPO = 10_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=Path("results") / "labels", help="folder that keeps the labels")
    options = parser.parse_args()
    torch.set_num_threads(1)
    loaded = load("vehicle-routing", store=options.store)
    train, problem = loaded.train, loaded.problem

    def test() -> float:
        return 100 * evaluate(model, loaded.test, problem).relative_regret

    model = loaded.model(0)
    fit_two_stage(model, train, seed=0, progress=False)
    line("two-stage: test regret in per cent", test())
    cache = SolutionCache(problem, train.solutions, p_solve=1.0, grow_at="transformed", seed=0)
    fit(model, build_loss("spo-cache", cache), train, epochs=1, lr=0.02, batch_size=8, seed=0)
    line("after one epoch of SPO+", test())
    cache.policy = Bernoulli(0.0)
    fit(model, build_loss("map-dc", cache), train, epochs=10, lr=0.005, batch_size=32, seed=1)
    line("exact solves of training, as a share of those of SPO+", cache.statistics.solves / SOLVES_OF_SPO, at_most=0.1)
    return 0 if line("after ten epochs of map-dc over its cache", test(), at_most=5.5) else 1


if __name__ == "__main__":
    sys.exit(main())
