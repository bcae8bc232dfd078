"""Initial models of the experiments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import nn

from regretless.training.models import SharedLinear
from regretless.training.random_draws import seeded_weights


def seeded(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Build a model with weights drawn from ``seed``; the global generator does not change."""
    with seeded_weights(seed):
        return make()


def shared_linear(features: int) -> Callable[[int], nn.Module]:
    """Return ``seed -> SharedLinear``."""
    return partial(seeded, partial(SharedLinear, features))
