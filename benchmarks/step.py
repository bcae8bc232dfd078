"""The training step: cached losses against a plain mean squared error, same model, same batches.

python benchmarks/step.py
"""

from __future__ import annotations

import sys

from measure import interleaved, line
from regretless import TwoStage, fit, make_loss
from regretless.problems import load


def main() -> int:
    loaded = load("synthetic-knapsack-120")
    losses = {"mse": TwoStage()}
    for method in ("nce-c", "map-dc", "spo-cache"):
        losses[method] = make_loss(method, loaded.problem, loaded.train, p_solve=0.0)
    for method in ("map-dc", "soft"):
        losses[f"{method}, 5 %"] = make_loss(method, loaded.problem, loaded.train, p_solve=0.05)
    models = {name: loaded.model(0) for name in losses}

    def epochs(name: str) -> None:
        fit(models[name], losses[name], loaded.train, epochs=5, batch_size=24, progress=False)

    seconds = interleaved({name: lambda name=name: epochs(name) for name in losses}, repeats=9)
    print(f"plain epoch: {1e3 * seconds['mse'] / 5:.1f} ms of CPU")
    good = line("cached MAP epoch without solves over a plain one", seconds["map-dc"] / seconds["mse"], at_most=1.6)
    good &= line("cached NCE epoch without solves over a plain one", seconds["nce-c"] / seconds["mse"], at_most=1.2)
    line("cached SPO+ epoch without solves over a plain one", seconds["spo-cache"] / seconds["mse"])
    ratio = seconds["soft, 5 %"] / seconds["map-dc, 5 %"]
    good &= line("cached soft epoch over a cached MAP epoch, 5 % solved", ratio, at_most=1.5)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
