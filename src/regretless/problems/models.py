"""Models that the experiments start from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn


def seeded(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Build a model with weights drawn from ``seed``, leaving the global generator as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


class SharedLinear(nn.Module):
    """One linear layer shared by all slots: ``(batch, slots, features) -> (batch, slots)`` costs."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict one cost a slot."""
        # A plain product is faster than nn.Linear on three dimensions, and the step is all overhead at this size.
        return x @ self.linear.weight[0] + self.linear.bias


def shared_linear(features: int) -> Callable[[int], nn.Module]:
    """Return ``seed -> SharedLinear``."""
    return partial(seeded, partial(SharedLinear, features))
