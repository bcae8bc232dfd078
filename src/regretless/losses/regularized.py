"""Losses of the regularized optimizer: a quadratic term over the convex hull of the solutions makes it continuous."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from regretless.arrays import dot
from regretless.losses.base import Reduction
from regretless.losses.closed_form import ClosedFormLoss
from regretless.losses.task_loss import Task, known_task, task_loss
from regretless.number_checks import check_integer, check_number
from regretless.oracle import Oracle


@dataclass(frozen=True)
class ConvexPoint:
    """Minimizers as convex combinations of solutions.

    Attributes:
        point: ``(batch, width)`` the minimizers.
        vertices: ``(batch, m, width)`` solutions that were found on the way.
        weights: ``(batch, m)`` of these, zero where a solution is not part of the combination.
        gap: ``(batch,)`` bounds of the distance to the minimum, before the last step of those that took one.
    """

    point: Tensor
    vertices: Tensor
    weights: Tensor
    gap: Tensor


def regularized_minimum(
    answer: Callable[[Tensor], Tensor], costs: Tensor, curvature: Tensor, *, tolerance: float, max_iterations: int
) -> ConvexPoint:
    r"""Minimize :math:`c^\top v + \frac12 \sum_j q_j v_j^2` over the convex hull of all solutions, for a whole batch.

    Every iteration queries the oracle at the gradient. It then moves to the new solution, or away from the worst one of
    the combination (Lacoste-Julien and Jaggi, *On the Global Linear Convergence of Frank-Wolfe Optimization Variants*,
    NeurIPS 2015), by exact line search.

    Args:
        answer: solutions ``(batch, width)`` of smallest cost at ``(batch, width)`` costs.
        costs: ``(batch, width)``.
        curvature: ``(width,)`` the :math:`q_j`, at least 0.
        tolerance: gap per instance at which the iteration ends; the gap bounds the distance to the minimum.
        max_iterations: at most so many queries after the first one.
    """
    first = answer(costs)
    vertices, weights = first[:, None], torch.ones_like(first[:, :1])
    point, each = first, torch.arange(len(costs), device=costs.device)
    for _ in range(max_iterations):
        slope = costs + curvature * point
        found = answer(slope)
        gap = dot(slope, point - found)
        if bool((gap <= tolerance).all()):
            break
        scores = torch.einsum("bmw,bw->bm", vertices, slope).masked_fill(weights <= 0, -torch.inf)
        worst = scores.argmax(1)
        heavy = weights[each, worst]
        gap_away = scores[each, worst] - dot(slope, point)
        ahead = (gap >= gap_away) | (heavy >= 1)  # nothing is left where the only solution is moved away from
        step_most = torch.where(ahead, 1.0, heavy / (1 - heavy).clamp(min=1e-12))
        direction = torch.where(ahead[:, None], found - point, point - vertices[each, worst])
        bend = dot(curvature * direction, direction)
        gain = torch.where(ahead, gap, gap_away)
        step = torch.where(gain < step_most * bend, gain / bend.clamp(min=1e-300), step_most)
        step = torch.where(gap <= tolerance, 0.0, step)
        point = point + step[:, None] * direction
        weights = weights * torch.where(ahead, 1 - step, 1 + step)[:, None]
        weights[each, worst] -= torch.where(ahead, 0.0, step)
        vertices, weights = _added(vertices, weights.clamp(min=0.0), found, torch.where(ahead, step, 0.0))
    return ConvexPoint(point, vertices, weights, gap)


def _added(vertices: Tensor, weights: Tensor, found: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
    """Add solutions with their weights: to themselves where they are part of the combination, else as new ones."""
    same = (vertices == found[:, None]).all(2)
    new = ~same.any(1)
    weights = weights + same * share[:, None] / same.sum(1, keepdim=True).clamp(min=1)
    weights = weights.masked_fill(weights < 1e-12, 0.0)
    used = (weights > 0).any(0)
    vertices, weights = vertices[:, used], weights[:, used]
    if not bool((new & (share > 0)).any()):
        return vertices, weights
    return torch.cat([vertices, found[:, None]], dim=1), torch.cat([weights, (share * new)[:, None]], dim=1)


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
