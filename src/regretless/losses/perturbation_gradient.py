"""Perturbation gradient: the true cost of the decision as a directional derivative of the optimal value."""

from __future__ import annotations

from typing import final

from torch import Tensor

from regretless.arrays import dot
from regretless.losses.base import Reduction
from regretless.losses.closed_form import ClosedFormLoss
from regretless.number_checks import check_number
from regretless.oracle import Oracle


@final
class PerturbationGradient(ClosedFormLoss):
    r"""Finite difference of the optimal value along the true costs (PG; Huang and Gupta, NeurIPS 2024).

    With the optimal value :math:`V(c) = c^\top v^*(c)`:

    .. math:: \frac{V(\hat c) - V(\hat c - h c)}{h} \qquad\text{or, central,}\qquad
              \frac{V(\hat c + h c) - V(\hat c - h c)}{2 h}

    V is concave and its slope along c is :math:`c^\top v^*(\hat c)`, so the loss estimates the true cost of the
    decision (not the regret, which is this less a constant). Gradient: the difference of the two solutions over h or
    2 h. It needs true costs but no true optima.

    Args:
        oracle: a ``Problem`` for two exact solves per instance, or a ``SolutionCache``; both solutions of an instance
            come from the same side of its coin.
        width: h, on the scale of predicted over true costs.
        central: use the difference to both sides.
        reduction: over the batch.
    """

    def __init__(
        self, oracle: Oracle, *, width: float = 0.1, central: bool = False, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(oracle, reduction=reduction)
        self.width, self.central = check_number("width", width), central

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Losses and gradients."""
        ahead = predicted + self.width * true if self.central else predicted
        back = predicted - self.width * true
        above, below = self.query([ahead, back], predicted, true, solution, instance)
        distance = 2 * self.width if self.central else self.width
        return (dot(ahead, above) - dot(back, below)) / distance, (above - below) / distance
