"""The verdict of ``auto`` where no method can gain: the costs do not depend on the features.

python benchmarks/noise_verdict.py [--draws 64]

Prints how many verdicts are that decision-focused training pays, and the gain that they claim beside the gain on
test data, both as a share of the regret of two-stage. Draws are distributed over all cores.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import torch

import regretless as rl
from measure import line

INSTANCES, TEST, FEATURES, ITEMS = 100, 2000, 5, 6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=64)
    draws = parser.parse_args().draws
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        found = list(pool.map(searched, range(draws)))
    pays, claimed, real, regret = (np.array(column) for column in zip(*found, strict=True))
    print(f"{draws} draws of {INSTANCES} instances: {pays.sum()} verdicts that training pays")
    line("gain that the verdicts claim, share of the regret of two-stage", claimed.mean() / regret.mean())
    line("gain on test data, share of the regret of two-stage", real.mean() / regret.mean())
    return 0 if line("share of verdicts that training pays", pays.mean(), at_most=0.1) else 1


def searched(seed: int) -> tuple[bool, float, float, float]:
    """Whether training pays, the gain of the verdict, that on test data, and the regret of two-stage on test data."""
    torch.set_num_threads(1)
    generator = np.random.default_rng(seed)
    weights = generator.integers(3, 9, size=(1, ITEMS)).astype(float)
    problem = rl.Problem(rl.MILP(weights, row_upper=0.5 * weights.sum()), sense="max")
    train, test = (
        rl.Dataset.solve(problem, generator.normal(size=(n, FEATURES)), generator.uniform(1.0, 9.0, size=(n, ITEMS)))
        for n in (INSTANCES, TEST)
    )
    search = rl.auto(problem, train, seed=seed, progress=False)
    baseline, chosen = (rl.evaluate(model, test, problem).regret for model in (search.two_stage, search.model))
    return search.verdict.pays, search.verdict.gain, baseline - chosen, baseline


if __name__ == "__main__":
    raise SystemExit(main())
