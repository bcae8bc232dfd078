"""Losses whose formula gives values and gradients."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor

from regretless.losses.base import Loss, Reduction, needs_oracle, no_autocast, refuse_shapes
from regretless.oracle import Oracle
from regretless.tensors import ids


class ClosedFormLoss(Loss):
    """A loss whose formula gives value and gradient per instance, so that autograd sees one node.

    Args:
        oracle: answers costs with solutions: a ``Problem`` (exact) or a ``SolutionCache``.
        reduction: over the batch: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        InputError: no oracle.
    """

    def __init__(self, oracle: Oracle | None = None, *, reduction: Reduction = "mean") -> None:
        super().__init__(needs_oracle(type(self).__name__, oracle), reduction=reduction)

    @abstractmethod
    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Values ``(batch,)`` and gradients ``(batch, width)`` at minimizing costs ``(batch, width)``.

        Called without gradients; both results must be tensors of their own.
        """

    def forward(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None = None) -> Tensor:
        """Compute the loss; see ``Loss.forward``."""
        known = self.loss_and_gradient(predicted, true, solution, instance)
        loss: Tensor = _WithGradient.apply(predicted, *known)  # type: ignore[no-untyped-call]
        return loss

    @torch.no_grad()
    def loss_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute loss and gradient; see ``Loss.loss_and_gradient``."""
        assert self.oracle is not None
        instance = ids(instance)
        c_hat, c, v = self._minimizing(predicted.detach(), true, solution, instance)
        with no_autocast(predicted):
            value, gradient = self.value_and_gradient(c_hat, c, v, instance)
        if value.shape != c_hat.shape[:1] or gradient.shape != c_hat.shape:
            refuse_shapes(self, "value_and_gradient", c_hat, value, gradient)
        if self._left_out is not None:
            value[self._left_out], gradient[self._left_out] = 0.0, 0.0
        if gradient.shape[1] > predicted.shape[1]:  # known costs are not predicted
            gradient = gradient[:, : predicted.shape[1]]
        factor = self.oracle.problem.sign
        if self.reduction == "sum":
            value = value.sum()
        elif self.reduction == "mean":
            count = self._instances(predicted.shape[0])
            value = value.sum() / count if self._left_out is not None or not len(value) else value.mean()
            factor /= count
        gradient = (gradient * factor).to(predicted.dtype)
        self._labels.finish()
        return value, gradient


class _WithGradient(torch.autograd.Function):
    """A known loss with a known gradient at the prediction."""

    @staticmethod
    def forward(ctx: Any, predicted: Tensor, loss: Tensor, gradient: Tensor) -> Tensor:
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        factor = upstream if upstream.ndim == 0 else upstream[:, None]
        return (factor * gradient).to(gradient.dtype), None, None
