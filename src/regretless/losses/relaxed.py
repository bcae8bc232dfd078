"""What the losses over a smoothed relaxation share: its solution, and what happens where it failed."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from regretless.losses.autograd_loss import AutogradLoss
from regretless.losses.base import Reduction, dot, needs_oracle
from regretless.oracle import Oracle
from regretless.relaxation import Program, Relaxation


class RelaxedLoss(AutogradLoss):
    """A loss of the smoothed relaxed solution, with a graph through it.

    The relaxation contains more than the feasible decisions, so such a loss can be negative.
    """

    def __init__(self, oracle: Oracle, program: Program, *, reduction: Reduction = "mean") -> None:
        super().__init__(needs_oracle(type(self).__name__, oracle), reduction=reduction)
        self.relaxation = Relaxation(oracle.problem, program)

    def per_instance(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None) -> Tensor:
        """Losses ``(batch,)``; an instance whose relaxation failed is left out where the problem allows it."""
        relaxed = self.relaxation(predicted, instance)
        failed = torch.isnan(relaxed).any(dim=1)
        if bool(failed.any()):
            self._left_out = failed
            relaxed = torch.where(failed[:, None], solution.to(relaxed.dtype), relaxed)
        return self.of_solution(relaxed, predicted, true, solution)

    @abstractmethod
    def of_solution(self, relaxed: Tensor, predicted: Tensor, true: Tensor, solution: Tensor) -> Tensor:
        """Losses ``(batch,)`` of relaxed solutions ``(batch, width)``."""


class RelaxedRegret(RelaxedLoss):
    r"""True cost of the smoothed relaxed solution less that of the optimum, :math:`c^\top (g(\hat c) - v^*(c))`."""

    def of_solution(self, relaxed: Tensor, predicted: Tensor, true: Tensor, solution: Tensor) -> Tensor:
        """Regrets ``(batch,)``."""
        return dot(true, relaxed - solution)
