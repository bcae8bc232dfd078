"""What the losses over a smoothed relaxation share: the true cost of its solution."""

from __future__ import annotations

import torch
from torch import Tensor

from regretless.losses.base import AutogradLoss, Reduction, dot
from regretless.problem import Oracle
from regretless.relaxation import Program, Relaxation


class RelaxedRegret(AutogradLoss):
    r"""True cost of the smoothed relaxed solution, less that of the true optimum: :math:`c^\top (g(\hat c) - v^*(c))`.

    The relaxation contains more than the feasible decisions, so the loss can be negative.
    """

    def __init__(self, oracle: Oracle, program: Program, *, reduction: Reduction = "mean") -> None:
        super().__init__(oracle, reduction=reduction)
        self.relaxation = Relaxation(oracle.problem, program)

    def per_instance(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None) -> Tensor:
        """Losses ``(batch,)``; an instance whose relaxation failed is left out where the problem allows it."""
        relaxed = self.relaxation(predicted, instance)
        failed = torch.isnan(relaxed).any(dim=1)
        if bool(failed.any()):
            self._left_out = failed
            relaxed = torch.where(failed[:, None], solution.to(relaxed.dtype), relaxed)
        return dot(true, relaxed - solution)
