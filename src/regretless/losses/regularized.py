"""Losses of the regularized optimizer: a quadratic term over the convex hull of the solutions makes it continuous."""

from __future__ import annotations

from typing import Any, final

import torch
from torch import Tensor

from regretless.losses.base import Reduction, dot
from regretless.losses.closed_form import ClosedFormLoss
from regretless.losses.frank_wolfe import ConvexPoint, regularized_minimum
from regretless.losses.task_loss import Task, known_task, task_loss
from regretless.number_checks import check_integer, check_number
from regretless.oracle import Oracle


class _Regularized(ClosedFormLoss):
    """What both losses share: the regularized solution, found by queries of the oracle alone."""

    def __init__(
        self,
        oracle: Oracle,
        *,
        lambda_: float = 1.0,
        tolerance: float = 1e-6,
        max_iterations: int = 100,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(oracle, reduction=reduction)
        self.lambda_ = check_number("lambda_", lambda_)
        self.tolerance = check_number("tolerance", tolerance, least=0)
        self.max_iterations = check_integer("max_iterations", max_iterations, least=1)
        self._gap = torch.tensor(torch.nan)

    def diagnostics(self) -> dict[str, float]:
        """Largest gap of the last step, as a multiple of ``lambda_``: above ``tolerance``, the iterations ended it."""
        return {"regularized_gap": float(self._gap)}

    def running_state(self) -> dict[str, Any]:
        """The gap of the last step, for the history."""
        return super().running_state() | {"gap": self._gap.cpu()}

    def load_running_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved running state."""
        super().load_running_state(state)
        self._gap = state.get("gap", self._gap)

    def curvature(self, predicted: Tensor) -> Tensor:
        """Weights ``(width,)`` of the quadratic term: known costs have none."""
        assert self.problem is not None
        weights = torch.full((predicted.shape[1],), self.lambda_, dtype=torch.float64, device=predicted.device)
        weights[self.problem.dimension :] = 0.0
        return weights

    def regularized(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None) -> ConvexPoint:
        """Regularized solutions, in float64: the gap of an iteration is a small difference of large numbers."""
        costs = predicted.to(torch.float64)

        def answer(at: Tensor) -> Tensor:
            (found,) = self.query([at], costs, true.to(torch.float64), solution.to(torch.float64), instance)
            return found

        with self.one_coin():
            found = regularized_minimum(
                answer,
                costs,
                self.curvature(predicted),
                tolerance=self.tolerance * self.lambda_,
                max_iterations=self.max_iterations,
            )
        if len(costs):
            self._gap = found.gap.max() / self.lambda_
        return found


@final
class RegularizedFenchelYoung(_Regularized):
    r"""Fenchel-Young loss of the regularized optimizer (Dalle et al. 2022; Blondel, Martins and Niculae 2020).

    .. math:: \hat c^\top v^* + \tfrac{\lambda}{2} \|v^*\|^2
              - \min_{v \in \operatorname{conv} V} \big( \hat c^\top v + \tfrac{\lambda}{2} \|v\|^2 \big)

    Gradient: :math:`v^* - v_\lambda(\hat c)` with the minimizer :math:`v_\lambda(\hat c)`. The loss is convex, smooth
    and never negative, and it is zero only where the minimizer is the true optimum. It needs only the true optima, no
    true costs. The minimizer is found by Frank-Wolfe iterations, each of which needs one solution of the oracle.

    Args:
        oracle: a ``Problem``, or a ``SolutionCache``: the hull is then that of S, and iterations are look-ups.
        lambda_: weight of the quadratic term, in the units of the costs.
        tolerance: gap at which the iteration ends, as a multiple of ``lambda_``.
        max_iterations: solutions per instance and step, beside the first one. The history has the largest gap that
            is left, as ``regularized_gap``.
        reduction: over the batch.
    """

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Losses and gradients."""
        found = self.regularized(predicted, true, solution, instance).point.to(predicted.dtype)
        lead = solution - found
        # The difference of the two quadratic terms, without the difference of large numbers.
        half = 0.5 * dot(self.curvature(predicted).to(predicted.dtype) * lead, solution + found)
        return dot(predicted, lead) + half, lead


@final
class RegularizedOptimizer(_Regularized):
    r"""Loss of the regularized solution, differentiated through it (Dalle et al. 2022; PyEPO's Frank-Wolfe optimizer).

    .. math:: \ell(v_\lambda(\hat c), v^*), \qquad
              v_\lambda(\hat c) = \arg\min_{v \in \operatorname{conv} V} \hat c^\top v + \tfrac{\lambda}{2} \|v\|^2

    Near :math:`\hat c` the minimizer moves on the face that its combination of solutions spans: with the gradient g
    of :math:`\ell`, that of the loss is :math:`-\frac{1}{\lambda} P g`, where P projects on the directions of the face.

    Args:
        oracle: a ``Problem``, or a ``SolutionCache``: the hull is then that of S, and iterations are look-ups.
        lambda_: weight of the quadratic term, in the units of the costs.
        task: the loss of a solution: ``"squared"``, ``"absolute"`` or ``"regret"``.
        tolerance: gap at which the iteration ends, as a multiple of ``lambda_``.
        max_iterations: solutions per instance and step, beside the first one. The history has the largest gap that
            is left, as ``regularized_gap``.
        reduction: over the batch.
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        lambda_: float = 1.0,
        task: Task = "squared",
        tolerance: float = 1e-6,
        max_iterations: int = 100,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(
            oracle, lambda_=lambda_, tolerance=tolerance, max_iterations=max_iterations, reduction=reduction
        )
        self.task = known_task(task)

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Losses and gradients."""
        assert self.problem is not None
        found = self.regularized(predicted, true, solution, instance)
        point = found.point.to(predicted.dtype)
        value, slope = task_loss(self.task, point, true, solution, dimension=self.problem.dimension)
        part = (found.weights > 0).to(torch.float64)[:, :, None]
        mean = (found.vertices * part).sum(1, keepdim=True) / part.sum(1, keepdim=True)
        directions = (found.vertices - mean) * part
        bend = torch.einsum("bmw,w,bnw->bmn", directions, self.curvature(predicted), directions)
        inner = torch.linalg.pinv(bend, rtol=1e-9, hermitian=True)
        gradient = -torch.einsum("bmw,bmn,bnu,bu->bw", directions, inner, directions, slope.to(torch.float64))
        return value + 0.0 * predicted.sum(1), gradient.to(predicted.dtype)  # NaN where a prediction is NaN
