"""A knapsack small enough for every method, and runs of each on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regretless.data import Dataset
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.settings import seeded
from regretless.search import train as train_any
from regretless.training import Fitted, fit, methods

WEIGHTS = np.array([[3.0, 4.0, 5.0, 2.0, 6.0]])
CAPACITY = 9.0
# Settings that make slow methods quick; p_solve is high so that faults and workers show.
SETTINGS: dict[str, dict[str, Any]] = {
    "direct": {"generations": 2, "population": 4},
    **{name: {"max_iterations": 5} for name in ("rfy", "rfy-cache", "rfw", "rfw-cache")},
    **{name: {"samples": 3} for name in ("imle", "imle-cache", "aimle", "aimle-cache", "dpo", "dpo-cache")},
}
AUTO: dict[str, Any] = {"folds": 2, "methods": ["map-dc", "spo-cache"], "growth": 1.5}
# One method of each kind, for the fast tests. Others differ from these in a formula or in having a cache.
OF_EACH_KIND = {
    "auto", "two-stage", "spo", "spo-cache", "spo-relax", "interior", "nce-c", "map-dc", "soft", "pfy-cache", "imle",
    "rfy", "cave", "pairwise", "direct",
}  # fmt: skip


def fast_if_of_its_kind(name: str, *more: Any) -> Any:
    """A parameter set of a test whose first value is the name of a method."""
    return pytest.param(name, *more, marks=() if name in OF_EACH_KIND else pytest.mark.slow)


def problem(**settings: Any) -> Problem:
    """The knapsack as a MILP, solved by an engine."""
    return Problem(MILP(WEIGHTS, row_upper=CAPACITY), sense="max", **settings)


def data(n: int = 12, seed: int = 0, **settings: Any) -> Dataset:
    """Values that are nearly linear in the features, with exact labels."""
    chance = torch.Generator().manual_seed(seed)
    features = torch.randn(n, 5, 3, generator=chance)
    values = 5 + 2 * features[..., 0] - features[..., 1] + 0.3 * torch.randn(n, 5, generator=chance)
    return Dataset.solve(problem(**settings), features, values.double())


class Model(nn.Module):
    """One linear layer shared by the items."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)[..., 0]


def settings_of(name: str) -> dict[str, Any]:
    """Settings of a method for small runs."""
    cached = {"p_solve": 0.5} if methods.method(name).cached else {}
    return cached | SETTINGS.get(name, {})


def train(name: str, solver: Problem, given: Dataset, *, epochs: int = 2, **settings: Any) -> tuple[Fitted, Any]:
    """Train a method of the table; returns what came of it and its loss (``None`` for searches)."""
    model = seeded(Model, 1)
    row = methods.method(name)
    if name == "auto":  # with its own linear model, whose two-stage weights have a closed form
        found = train_any(solver, given, seed=3, epochs=epochs, progress=False, **AUTO, **settings)
        return Fitted(found.model, found.history, found.reason), None
    if row.search is not None:
        options = methods.chosen(name, settings_of(name))
        return row.search(model, solver, given, seed=3, progress=False, **options), None
    loss = methods.make_loss(name, solver, given, seed=3, **settings_of(name))
    return fit(model, loss, given, epochs=epochs, lr=0.05, batch_size=5, seed=4, progress=False, **settings), loss


def weights(fitted: Fitted) -> torch.Tensor:
    """All weights as one vector."""
    return torch.cat([parameter.detach().flatten() for parameter in fitted.model.parameters()])
