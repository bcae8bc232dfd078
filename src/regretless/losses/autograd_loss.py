"""Losses whose formula gives values, which torch differentiates."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from regretless.arrays import mean
from regretless.errors import InputError
from regretless.losses.base import Loss
from regretless.losses.loss_checks import needs_tensor, refuse_result
from regretless.tensors import ids, no_autocast


class AutogradLoss(Loss):
    """A loss whose formula gives values per instance with a graph.

    Args:
        oracle: answers costs with solutions: a ``Problem`` (exact) or a ``SolutionCache``; ``None`` where the loss
            needs none.
        reduction: over the batch: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    @abstractmethod
    def per_instance(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None) -> Tensor:
        """Values ``(batch,)`` at minimizing costs ``(batch, width)``."""

    def forward(
        self,
        predicted: Tensor,
        true: Tensor,
        solution: Tensor,
        instance: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss; see ``Loss.forward``."""
        instance = ids(instance)
        with no_autocast(needs_tensor(predicted).device.type):
            values = self.per_instance(*self._minimizing(predicted, true, solution, instance), instance)
        # The sum of another shape would not be that of one loss per instance.
        if not isinstance(values, Tensor) or values.shape != predicted.shape[:1]:
            refuse_result(self, "per_instance", predicted, values)
        if self._left_out is not None:
            values = values.masked_fill(self._left_out, 0.0)
        if (factors := self._factors(weight, values)) is not None:
            values = factors * values
        self._labels.finish()
        if self.reduction == "none":
            return values
        if self.reduction == "sum":
            return values.sum()
        count = self._instances(values.shape[0])
        return mean(values) if count == values.shape[0] else values.sum() / count

    def loss_and_gradient(
        self,
        predicted: Tensor,
        true: Tensor,
        solution: Tensor,
        instance: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Compute loss and gradient; see ``Loss.loss_and_gradient``."""
        leaf = needs_tensor(predicted).detach().requires_grad_()
        with torch.enable_grad(), no_autocast(predicted.device.type):
            loss = self(leaf, true, solution, instance, weight)
            if not loss.requires_grad:
                self._refuse_no_graph(len(leaf))
                return loss.detach(), torch.zeros_like(leaf)
            (gradient,) = torch.autograd.grad(loss.sum() if loss.ndim else loss, leaf)
        return loss.detach(), gradient

    def _refuse_no_graph(self, batch: int) -> None:
        """Refuse values that do not depend on the prediction, with which training would change nothing."""
        left_out = 0 if self._left_out is None else int(self._left_out.sum())
        if left_out < batch:
            raise InputError(
                f"{type(self).__name__}.per_instance returned values without a graph: compute them from the predicted "
                "costs by operations of torch, without detach() and NumPy, or derive the loss from ClosedFormLoss, "
                "which returns gradients"
            )
