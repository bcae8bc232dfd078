"""Losses whose formula gives values, which torch differentiates."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from regretless.losses.base import Loss, no_autocast, refuse_shapes
from regretless.tensors import ids


class AutogradLoss(Loss):
    """A loss whose formula gives values per instance with a graph."""

    @abstractmethod
    def per_instance(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None) -> Tensor:
        """Values ``(batch,)`` at minimizing costs ``(batch, width)``."""

    def forward(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None = None) -> Tensor:
        """Compute the loss; see ``Loss.forward``."""
        instance = ids(instance)
        with no_autocast(predicted):
            values = self.per_instance(*self._minimizing(predicted, true, solution, instance), instance)
        if values.shape != predicted.shape[:1]:  # its sum would not be that of one loss per instance
            refuse_shapes(self, "per_instance", predicted, values)
        if self._left_out is not None:
            values = values.masked_fill(self._left_out, 0.0)
        self._labels.finish()
        if self.reduction == "none":
            return values
        return values.sum() if self.reduction == "sum" else values.sum() / self._instances(len(predicted))

    def loss_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute loss and gradient; see ``Loss.loss_and_gradient``."""
        leaf = predicted.detach().requires_grad_()
        with torch.enable_grad(), no_autocast(predicted):
            loss = self(leaf, true, solution, instance)
            if not loss.requires_grad:  # every instance was left out
                return loss.detach(), torch.zeros_like(leaf)
            (gradient,) = torch.autograd.grad(loss.sum(), leaf)
        return loss.detach(), gradient
