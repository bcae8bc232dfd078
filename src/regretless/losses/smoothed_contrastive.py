"""Smoothed contrastive loss: the true optimum against the smoothed relaxed solution, at the error of the prediction."""

from __future__ import annotations

from typing import final

from torch import Tensor

from regretless.losses.base import Reduction, dot
from regretless.losses.relaxed import RelaxedLoss
from regretless.oracle import Oracle
from regretless.relaxation import QuadraticProgram


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
