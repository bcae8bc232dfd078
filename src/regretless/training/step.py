"""One step of gradient descent from the gradient at the prediction."""

from __future__ import annotations

from typing import Protocol, final

import torch
from torch import Tensor, nn

from regretless.errors import InputError
from regretless.ranks import unwrapped
from regretless.tensors import pullback
from regretless.training.evaluation import predicted_costs
from regretless.training.fast_linear import linear_step
from regretless.training.lean_adam import LeanAdam
from regretless.training.scaling import cost_unit, eps_for, gradient_factor


class Step(Protocol):
    """Forward pass, backward pass and update of a model.

    Attributes:
        optimizer: of its parameters.
    """

    optimizer: torch.optim.Optimizer

    def predict(self, x: Tensor) -> Tensor:
        """Predict costs ``(batch, d)``."""

    def update(self, predicted: Tensor, gradient: Tensor) -> None:
        """Step along the gradient ``(batch, d)`` at the last prediction."""


@final
class GradientStep:
    """The step of any model, by autograd, and any optimizer.

    Args:
        model: maps features to costs.
        optimizer: of its parameters.
        clip: largest norm of the gradient over all weights of the optimizer; a longer one is scaled down.
    """

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, clip: float | None = None) -> None:
        self.model, self.optimizer, self.clip = model, optimizer, clip

    def predict(self, x: Tensor) -> Tensor:
        """Predict costs ``(batch, d)``.

        Raises:
            InputError: the model returns no tensor, or cannot be trained on a single instance.
        """
        try:
            return predicted_costs(self.model, x)
        except ValueError as error:
            if len(x) > 1:
                raise
            raise InputError(
                f"the model {type(self.model).__name__} cannot be trained on a batch of one instance, as batch "
                f"normalization cannot: use larger batches ({error})"
            ) from error

    def update(self, predicted: Tensor, gradient: Tensor) -> None:
        """Step along the gradient ``(batch, d)`` at the last prediction.

        Raises:
            InputError: the prediction does not depend on the weights, though they are not frozen.
        """
        self.optimizer.zero_grad()
        if predicted.requires_grad:
            torch.autograd.backward(pullback(predicted, gradient))
            if self.clip is not None:
                # Of the optimizer: gradients of other weights are never cleared.
                trained = (weight for group in self.optimizer.param_groups for weight in group["params"])
                nn.utils.clip_grad_norm_(trained, self.clip)
            self.optimizer.step()
        elif any(weight.requires_grad for weight in self.model.parameters()):
            raise InputError(
                f"the predictions of the model {type(self.model).__name__} have no gradient, so it cannot be trained: "
                "its forward must not use detach(), no_grad() or NumPy"
            )


@final
class ScaledStep:
    """A step along gradients times a factor.

    Args:
        step: the step.
        factor: see ``gradient_factor``.
    """

    def __init__(self, step: Step, factor: float) -> None:
        self.optimizer, self.step, self.factor = step.optimizer, step, factor

    def predict(self, x: Tensor) -> Tensor:
        """Predict costs ``(batch, d)``."""
        return self.step.predict(x)

    def update(self, predicted: Tensor, gradient: Tensor) -> None:
        """Step along the gradient ``(batch, d)`` at the last prediction."""
        self.step.update(predicted, gradient * self.factor)


def own_optimizer(model: nn.Module, lr: float) -> LeanAdam:
    """The optimizer of a model for which the user gives none."""
    return LeanAdam(model.parameters(), lr, eps=eps_for(cost_unit(unwrapped(model))))


def step_of(model: nn.Module, optimizer: torch.optim.Optimizer, clip: float | None = None) -> Step:
    """The step of a model and an optimizer: the fast one where it applies."""
    fast = linear_step(model, optimizer) if clip is None else None
    step = fast or GradientStep(model, optimizer, clip)
    # Numbers of the user, of a clip or a decay, are in units of the gradient.
    plain = clip is None and not any(group.get("weight_decay") for group in optimizer.param_groups)
    own = isinstance(optimizer, LeanAdam) and plain
    factor = gradient_factor(cost_unit(unwrapped(model))) if own else 1.0
    return step if factor == 1.0 else ScaledStep(step, factor)
