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
    """

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.model, self.optimizer = model, optimizer

    def predict(self, x: Tensor) -> Tensor:
        """Predict costs ``(batch, d)``."""
        predicted: Tensor = self.model(x)
        return predicted

    def update(self, predicted: Tensor, gradient: Tensor) -> None:
        """Step along the gradient ``(batch, d)`` at the last prediction."""
        self.optimizer.zero_grad()
        if predicted.requires_grad:
            torch.autograd.backward(predicted, gradient)
            self.optimizer.step()


def make_step(model: nn.Module, optimizer: torch.optim.Optimizer) -> Step:
    """The step of a model and an optimizer: the fast one where it applies."""
    return linear_step(model, optimizer) or GradientStep(model, optimizer)
