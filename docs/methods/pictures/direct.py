"""Picture of what direct search minimizes: ``python docs/methods/pictures/direct.py``."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from loss_curves import example, line, save
from torch import Tensor, nn

from regretless.charts import Panel, Point, Series, SeriesStyle
from regretless.data import Dataset
from regretless.losses import SPOPlus
from regretless.training import evaluate
from regretless.training.direct import direct


class TwoWeights(nn.Module):
    """Predicts the value of each item from its two features; no constant."""

    def __init__(self, angle: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([math.cos(angle), math.sin(angle)], dtype=torch.float64))

    def forward(self, features: Tensor) -> Tensor:
        """Values ``(batch, 2)``."""
        return features @ self.weight


def days(n: int = 40) -> Dataset:
    """Days on which one of two items is chosen, and their values are not linear in the features."""
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(n, 2, 2, generator=generator, dtype=torch.float64)
    values = torch.exp(0.8 * features[..., 0]) - 1 + 0.6 * features[..., 1].abs() * features[..., 1]
    return Dataset.solve(example(), features, values)


if __name__ == "__main__":
    problem, data = example(), days()
    angles = torch.linspace(-math.pi, math.pi, 721, dtype=torch.float64)
    regrets = [evaluate(TwoWeights(float(angle)), data, problem).regret for angle in angles]
    surrogate = SPOPlus(problem)
    spo = [float(surrogate(TwoWeights(float(a))(data.features), data.costs, data.solutions).detach()) for a in angles]
    start = TwoWeights(2.5)
    before = evaluate(start, data, problem).regret
    direct(start, problem, data, generations=30, progress=False)
    found = math.atan2(float(start.weight[1].detach()), float(start.weight[0].detach()))
    series = [
        line("mean training regret", 6, angles, regrets),
        line("SPO+ at weights of length 1", 1, angles, spo),
        Series("start of the search", SeriesStyle(2, ""), (Point(2.5, before),), 2),
        Series("found", SeriesStyle(2, "", "D"), (Point(found, evaluate(start, data, problem).regret),), 3),
    ]
    words = "direction of the two weights (their length does not change a decision)", "mean over 40 days"
    save(Path(__file__).with_suffix(".svg"), [Panel(series, *words, log_y=False)])
