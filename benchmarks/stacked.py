"""Many runs as one: 120 runs of map-dc in one stack against the same runs by ``fit``, one after another.

python benchmarks/stacked.py [--runs 20]     (20 settings on 5 folds and all data)
"""

from __future__ import annotations

import argparse
import sys
import time

import torch

from measure import line
from regretless import MAP, SolutionCache, fit
from regretless.problems import load
from regretless.training.folds import make_folds, rest_of
from regretless.training.stacked_fit import fit_stacked
from regretless.training.stacked_models import Setting
from regretless.training.two_stage import fit_two_stage

EPOCHS, BATCH, TIMED = 20, 24, 6


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20, help="settings per stream; there are six streams")
    settings = parser.parse_args().runs
    torch.set_num_threads(1)
    loaded = load("synthetic-knapsack-120")
    train, n = loaded.train, len(loaded.train)
    streams = [*(rest_of(n, part) for part in make_folds(n, 5)), torch.arange(n)]
    models = [loaded.model(0) for _ in streams]
    for model, stream in zip(models, streams, strict=True):
        fit_two_stage(model, train[stream])
    # As many solves in all as one run makes at 5 %.
    p_solve = 0.05 * n / (settings * sum(map(len, streams)))
    shared = SolutionCache(loaded.problem, train.solutions, p_solve=p_solve)
    grid = [Setting(0, float(rate)) for rate in torch.logspace(-3.5, -1.5, settings)]
    start = time.process_time()
    fit_stacked(models, [MAP(shared, reduction="none")], grid, train, streams, epochs=EPOCHS, progress=False)
    together = time.process_time() - start
    alone = 0.0
    for stream in streams[:TIMED]:
        cache = SolutionCache(loaded.problem, train.solutions, p_solve=0.05)
        start = time.process_time()
        fit(loaded.model(0), MAP(cache), train[stream], epochs=EPOCHS, lr=0.5, batch_size=BATCH, progress=False)
        alone += time.process_time() - start
    alone *= settings  # every stream was timed once
    runs = settings * len(streams)
    solves = shared.statistics.solves
    print(f"{runs} runs: {together:.1f} s of CPU as one, {alone:.1f} s one after another, {solves} solves")
    return 0 if line(f"{runs} runs one after another over the same as one", alone / together, at_least=8.0) else 1


if __name__ == "__main__":
    sys.exit(main())
