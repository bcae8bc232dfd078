"""Losses through a smoothed linear relaxation: QPTL, Interior and the smoothed contrastive loss."""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import torch
from torch import Tensor

from regretless.arrays import dot
from regretless.losses.autograd_loss import AutogradLoss
from regretless.losses.base import Reduction
from regretless.losses.loss_checks import needs_oracle
from regretless.oracle import Oracle
from regretless.relaxation import BarrierProgram, Program, QuadraticProgram, Relaxation


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


@final
class QPTL(RelaxedRegret):
    r"""Quadratic programming task loss (Wilder, Dilkina and Tambe, *Melding the data-decisions pipeline*, AAAI 2019).

    .. math:: c^\top (G x_\tau(\hat c) - v^*(c)), \qquad
        x_\tau(\hat c) = \arg\min_{x \in P} \hat c^\top G x + \tfrac{\tau}{2} \|x\|^2

    with P the linear relaxation, bounds of the variables included. The gradient goes through the optimality conditions
    of the quadratic program.

    Args:
        oracle: the problem; it needs a MILP.
        tau: weight of the quadratic term, in the units of the costs: the solution is smooth over changes of the costs
            of about ``tau``. If it is much smaller, the gradient is nearly always zero; if it is much
            larger, the solution hardly depends on the costs.
        reduction: over the batch.

    Raises:
        InputError: ``tau`` is not positive, or the problem has no model.
    """

    def __init__(self, oracle: Oracle, *, tau: float = 0.1, reduction: Reduction = "mean") -> None:
        super().__init__(oracle, QuadraticProgram(tau=tau), reduction=reduction)
        self.tau = tau


@final
class Interior(RelaxedRegret):
    r"""Loss of Mandi and Guns, *Interior point solving for LP-based prediction+optimisation*, NeurIPS 2020.

    .. math:: c^\top (G x_\mu(\hat c) - v^*(c)), \qquad
        x_\mu(\hat c) = \arg\min_{x} \hat c^\top G x - \mu \sum_k \log(\text{distance of } x \text{ to bound } k)

    The homogeneous self-dual embedding is followed until its barrier parameter falls under ``cutoff``; a few Newton
    steps then move to the exact point of the central path with :math:`\mu` = ``cutoff``, so that the loss is a smooth
    function of the prediction, and its gradient there is exact with ``damping=0``.

    Args:
        oracle: the problem; it needs a MILP.
        cutoff: barrier parameter at which the path is left, in the units of the costs.
        damping: Tikhonov term on the diagonal of the normal matrix ``A D A'`` in the backward pass.
        reduction: over the batch.

    Raises:
        InputError: ``cutoff`` is not positive, ``damping`` is negative, or the problem has no model.
    """

    def __init__(
        self, oracle: Oracle, *, cutoff: float = 0.1, damping: float = 0.0, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(oracle, BarrierProgram(cutoff=cutoff, damping=damping), reduction=reduction)
        self.cutoff, self.damping = cutoff, damping


@final
class SmoothedContrastive(RelaxedLoss):
    r"""Self-contrastive loss through a smoothed relaxation (SCE; Mandi et al. 2025, arXiv 2508.11365).

    .. math:: (\hat c - c)^\top (v^*(c) - v_\tau(\hat c)), \qquad
              v_\tau(\hat c) = G \arg\min_{x \in P} \hat c^\top G x + \tfrac{\tau}{2} \|x\|^2

    with P the linear relaxation. It is the contrastive loss of the paper at ``c_hat - c``, with the relaxed solution in
    place of a member of S. Its gradient has two parts: :math:`v^*(c) - v_\tau(\hat c)`, which is there wherever the
    solutions differ, and the one through :math:`v_\tau`. The regret alone (``QPTL``) has only the second one, which
    is zero wherever the relaxed solution is a corner.

    Args:
        oracle: the problem; it needs a MILP.
        tau: weight of the quadratic term, in the units of the costs.
        reduction: over the batch.

    Raises:
        InputError: ``tau`` is not positive, or the problem has no model.
    """

    def __init__(self, oracle: Oracle, *, tau: float = 0.1, reduction: Reduction = "mean") -> None:
        super().__init__(oracle, QuadraticProgram(tau=tau), reduction=reduction)
        self.tau = tau

    def of_solution(self, relaxed: Tensor, predicted: Tensor, true: Tensor, solution: Tensor) -> Tensor:
        """Losses ``(batch,)``."""
        return dot(predicted - true, solution - relaxed)
