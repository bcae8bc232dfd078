"""Small runs that the tests of training share: a knapsack of six items whose values a linear model predicts badly."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.losses import (
    MAP,
    NCE,
    AdaptiveImplicitMLE,
    Blackbox,
    ImplicitMLE,
    Loss,
    PerturbedFenchelYoung,
    PerturbedOptimizer,
    SPOPlus,
    TwoStage,
)
from regretless.problem import Problem
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.settings import seeded

WEIGHTS = [3, 4, 5, 2, 6, 3]
FEATURES = 4
TIMES = ("seconds", "solver_seconds", "watching_seconds")


def problem() -> Problem:
    return knapsack_problem(WEIGHTS, 10)


def data(n: int = 13, seed: int = 0) -> Dataset:
    """Values that are not linear in the features."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(n, len(WEIGHTS), FEATURES, generator=generator)
    values = torch.exp(features[..., 0]) * torch.tensor(WEIGHTS) + features[..., 1].abs()
    return Dataset.solve(problem(), features, values.double())


class Model(nn.Module):
    """A linear layer shared by the items, with dropout, which draws from the global generator."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.linear, self.dropout = nn.Linear(FEATURES, 1), nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.dropout(x))[..., 0]


def model(dropout: float = 0.0) -> nn.Module:
    return seeded(lambda: Model(dropout), 3)


def cache(train: Dataset, **settings) -> SolutionCache:
    return SolutionCache(problem(), train.solutions, **({"p_solve": 0.4, "seed": 5} | settings))


LOSSES: dict[str, Callable[[Dataset], Loss]] = {
    "two-stage": lambda train: TwoStage(problem()),
    "spo": lambda train: SPOPlus(problem()),
    "map-cache": lambda train: MAP(cache(train)),
    "map-cache small": lambda train: MAP(cache(train, capacity=6)),
    "nce-cache": lambda train: NCE(cache(train, p_solve=0.7)),
    "blackbox-cache": lambda train: Blackbox(cache(train, grow_at="transformed"), lambda_=5.0),
    "pfy-cache": lambda train: PerturbedFenchelYoung(cache(train), samples=3),
    "dpo": lambda train: PerturbedOptimizer(problem(), samples=3),
    "imle-cache": lambda train: ImplicitMLE(cache(train), samples=3),
    "aimle-cache": lambda train: AdaptiveImplicitMLE(cache(train, grow_at="transformed"), samples=3),
}


def weights(model: nn.Module) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def untimed(history) -> list[dict]:
    """Rows without what a clock says."""
    return [{name: value for name, value in row.items() if name not in TIMES} for row in history]


class Trap(nn.Module):
    """A model that does something at its k-th training step."""

    def __init__(self, inner: nn.Module, at: int, action: Callable[[], None]) -> None:
        super().__init__()
        self.inner, self.left, self.action = inner, at, action

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            if self.left == 0:
                self.action()
            self.left -= 1
        return self.inner(x)
