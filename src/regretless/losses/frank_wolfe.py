"""Frank-Wolfe with away steps: a quadratic objective over the convex hull of the solutions of an oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from regretless.losses.base import dot


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
