"""One step of gradient descent from the gradient at the prediction."""

from __future__ import annotations

from typing import Protocol, final

import torch
from torch import Tensor, nn

from regretless.training.fast_linear import linear_step


class Step(Protocol):
    """Forward pass, backward pass and update of a model."""

    def predict(self, x: Tensor) -> Tensor:
        """Predict costs ``(batch, d)``."""
        ...

    def update(self, predicted: Tensor, gradient: Tensor) -> None:
        """Step along the gradient ``(batch, d)`` at the last prediction."""
        ...


@final
class GradientStep:
    """The step of any model, by autograd, and any optimizer.

    Args:
        model: maps features to costs.
        optimizer: of its parameters.
        clip: largest norm of the gradient over all weights; a longer one is scaled down.
    """

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, clip: float | None = None) -> None:
        self.model, self.optimizer, self.clip = model, optimizer, clip

    def predict(self, x: Tensor) -> Tensor:
        """Predict costs ``(batch, d)``."""
        predicted: Tensor = self.model(x)
        return predicted

    def update(self, predicted: Tensor, gradient: Tensor) -> None:
        """Step along the gradient ``(batch, d)`` at the last prediction."""
        self.optimizer.zero_grad()
        if predicted.requires_grad:
            torch.autograd.backward(predicted, gradient)
            if self.clip is not None:
                nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
            self.optimizer.step()


def make_step(model: nn.Module, optimizer: torch.optim.Optimizer, clip: float | None = None) -> Step:
    """The step of a model and an optimizer: the fast one where it applies."""
    fast = linear_step(model, optimizer) if clip is None else None
    return fast or GradientStep(model, optimizer, clip)
