"""Negative identity: the slope of the loss at the solution, passed through the solver with its sign changed."""

from __future__ import annotations

from typing import final

from torch import Tensor

from regretless.losses.base import Reduction
from regretless.losses.closed_form import ClosedFormLoss
from regretless.losses.task_loss import Task, known_task, task_loss
from regretless.oracle import Oracle


@final
class NegativeIdentity(ClosedFormLoss):
    r"""Loss of the decision, with minus the identity as Jacobian of the solver (NID; Sahoo et al., ICLR 2023).

    .. math:: \ell(v(\hat c), v^*), \qquad \text{gradient } -g \text{ with the gradient } g \text{ of } \ell
              \text{ at } v(\hat c)

    A higher cost of an item makes its choice less likely, and nothing else of the solver is used. One solve per
    instance is needed. With ``task="squared"`` the gradient is :math:`\frac{2}{d} (v^* - v(\hat c))` with the number d
    of costs: the direction of ``MAP`` at ``c_hat``. With ``task="regret"`` it is :math:`-c` wherever the decision is
    not optimal.

    Args:
        oracle: a ``Problem``, or a ``SolutionCache``.
        task: the loss of a decision: ``"squared"``, ``"absolute"`` or ``"regret"``.
        reduction: over the batch.
    """

    def __init__(self, oracle: Oracle, *, task: Task = "squared", reduction: Reduction = "mean") -> None:
        super().__init__(oracle, reduction=reduction)
        self.task = known_task(task)

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Losses and gradients."""
        assert self.problem is not None
        (chosen,) = self.query([predicted], predicted, true, solution, instance)
        value, slope = task_loss(self.task, chosen, true, solution, dimension=self.problem.dimension)
        return value + 0.0 * predicted.sum(1), -slope  # NaN where a prediction is NaN
