"""Losses that are linear between jumps: they know their value and slope, so a step needs one node of the graph."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import torch
from torch import Tensor

from regretless.losses.base import Loss, dot
from regretless.tensors import Array, view


class PiecewiseLinear(Loss):
    """A loss that is written as the piece it is on: a value and a slope, both without a graph.

    Autograd then sees one inner product instead of every operation of the formula, which at this size is a good part of
    a training step. The slope is exact: between jumps the loss *is* linear in the prediction.
    """

    @abstractmethod
    def piece(self, predicted: Array, true: Array, solution: Array, instance: Tensor | None) -> tuple[Array, Array]:
        """Return values ``(batch,)`` and slopes ``(batch, width)`` at minimising costs; called without gradients.

        Costs come as arrays on a CPU and as tensors elsewhere.
        """

    def per_instance(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None) -> Tensor:
        """Losses ``(batch,)``, each with its gradient."""
        with torch.no_grad():
            value, slope = self.piece(predicted, true, solution, instance)
        # The second term is zero in value and carries the gradient.
        return value + dot(predicted - predicted.detach(), slope)

    def forward(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None = None) -> Tensor:
        """Compute the loss; see ``Loss.forward``."""
        if self.reduction == "none":
            return super().forward(predicted, true, solution, instance)
        value, slope = self.with_slope(predicted, true, solution, instance)
        # One inner product carries the gradient; its number gives way to the loss.
        loss = torch.dot(predicted.reshape(-1), slope.reshape(-1))
        with torch.no_grad():
            return loss.fill_(value)

    def with_slope(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None = None
    ) -> tuple[Tensor | float, Tensor]:
        """The loss and its gradient, both without a graph; see ``Loss.with_slope``."""
        assert self.oracle is not None
        self._check(predicted, true, solution, self.oracle.problem)
        self._forget()
        c_hat, c, v = view(predicted.detach()), view(true), view(solution)
        # A prediction that is no number is for the training loop to name; numpy would warn of it as well.
        with torch.no_grad(), np.errstate(all="ignore"):
            if c_hat is not None and c is not None and v is not None:
                total, slope = self._reduced(c_hat, c, v, instance)
                return float(total), torch.from_numpy(slope).to(predicted.dtype)
            value, gradient = self._reduced(predicted, true, solution, instance)
            return value, gradient.to(predicted.dtype)

    def _reduced(self, predicted: Array, true: Array, solution: Array, instance: Tensor | None) -> tuple[Array, Array]:
        """Loss and gradient of the whole batch."""
        assert self.oracle is not None
        problem = self.oracle.problem
        value, slope = self.piece(problem.to_minimization(predicted), problem.to_minimization(true), solution, instance)
        count = value.shape[0]
        if self._left_out is not None:
            mask = self._left_out if isinstance(value, Tensor) else self._left_out.numpy()
            value[mask], slope[mask] = 0.0, 0.0
            count = max(count - int(mask.sum()), 1)
        total, share = value.sum(), problem.sign
        if self.reduction == "mean":
            total, share = total / count, share / count
        if slope.shape[1] > predicted.shape[1]:  # known costs are no prediction: their slope has nowhere to go
            slope = slope[:, : predicted.shape[1]]
        return total, slope * share
