"""The training step: cached losses against a plain mean squared error, same model, same batches.

python benchmarks/step.py
"""

from __future__ import annotations

import sys

import torch

from measure import interleaved, line
from regretless import Dataset, TwoStage, fit, make_loss
from regretless.problems import load

EPOCHS, BATCH = 5, 24


def torch_loop(model: torch.nn.Module, train: Dataset) -> None:
    """The training loop of torch's tutorials in its fastest form: data in memory, fused optimizer, squared error."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
    features, costs = train.features.to(torch.float32), train.costs.to(torch.float32)
    for _ in range(EPOCHS):
        order = torch.randperm(len(train))
        for x, c in zip(features[order].split(BATCH), costs[order].split(BATCH), strict=True):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), c).backward()
            optimizer.step()


def main() -> int:
    loaded = load("synthetic-knapsack-120")
    losses = {"mse": TwoStage()}
    for method in ("nce-c", "map-dc", "spo-cache"):
        losses[method] = make_loss(method, loaded.problem, loaded.train, p_solve=0.0)
    for method in ("map-dc", "soft"):
        losses[f"{method}, 5 %"] = make_loss(method, loaded.problem, loaded.train, p_solve=0.05)
    models = {name: loaded.model(0) for name in losses}

    def epochs(name: str) -> None:
        fit(models[name], losses[name], loaded.train, epochs=EPOCHS, batch_size=BATCH, progress=False)

    jobs = {name: lambda name=name: epochs(name) for name in losses}
    loop = loaded.model(0)
    seconds = interleaved(jobs | {"torch": lambda: torch_loop(loop, loaded.train)}, repeats=9)
    here, there = (1e3 * seconds[name] / EPOCHS for name in ("mse", "torch"))
    print(f"plain epoch: {here:.1f} ms of CPU in fit, {there:.1f} ms in a torch loop")
    line("plain epoch in a torch loop over one in fit", seconds["torch"] / seconds["mse"])
    line("plain epoch in a torch loop over a cached MAP epoch in fit", seconds["torch"] / seconds["map-dc"])
    good = line("cached MAP epoch without solves over a plain one", seconds["map-dc"] / seconds["mse"], at_most=1.6)
    good &= line("cached NCE epoch without solves over a plain one", seconds["nce-c"] / seconds["mse"], at_most=1.2)
    line("cached SPO+ epoch without solves over a plain one", seconds["spo-cache"] / seconds["mse"])
    ratio = seconds["soft, 5 %"] / seconds["map-dc, 5 %"]
    good &= line("cached soft epoch over a cached MAP epoch, 5 % solved", ratio, at_most=1.5)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
