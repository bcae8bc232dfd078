"""LAVA: the true optimum must cost less than the solutions next to it."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor

from regretless.cache import SolutionCache
from regretless.losses.base import Reduction
from regretless.losses.closed_form import ClosedFormLoss
from regretless.losses.loss_checks import needs_cache
from regretless.losses.members import members
from regretless.number_checks import check_integer, check_number


@final
class LAVA(ClosedFormLoss):
    r"""Loss via adjacent vertex alignment (Berden et al., *Solver-Free Decision-Focused Learning*, 2025).

    .. math:: \sum_{u \in N(v^*)} \max\big(\hat c^\top v^* - \hat c^\top u,\; -\varepsilon \big)

    where :math:`N(v^*)` are the solutions adjacent to the true optimum. Gradient: the sum of :math:`v^* - u` over those
    that do not cost :math:`\varepsilon` more than :math:`v^*`. It needs only the true optima, no true costs.

    Here the adjacent solutions are found in S: a member u of S is a neighbor of :math:`v^*` if no other member lies
    between them, that is, in the box with corners u and :math:`v^*`. For 0/1 solutions such a u is joined to
    :math:`v^*` by an edge of the convex hull of S, because the box is a face of the cube. For other solutions it is
    a heuristic. Nothing is solved for it, and no linear program is needed; but only what is in S can be a neighbor.
    The original takes neighbors from simplex pivots at the optimal basis, for linear programs only.

    Args:
        cache: the oracle that holds S; with ``p_solve=0`` training never solves.
        margin: :math:`\varepsilon`, on the scale of the objective.
        candidates: members of S nearest to the true optimum among which its neighbors are searched. This is exact for
            the neighbors within: whatever lies between is nearer.
        reduction: over the batch.
    """

    def __init__(
        self, cache: SolutionCache, *, margin: float = 0.1, candidates: int = 64, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(needs_cache("LAVA", cache), reduction=reduction)
        self.cache = cache
        self.margin = check_number("margin", margin, least=0)
        self.candidates = check_integer("candidates", candidates, least=1)

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Losses and gradients."""
        self.grow(self.cache, predicted, predicted, instance)
        columns, serves = members(self.cache, predicted, instance)
        rows, mask = neighbors(columns.T, solution, serves, self.candidates)
        leads = solution[:, None] - rows
        costs = torch.einsum("bkw,bw->bk", leads, predicted)
        value = (costs.clamp(min=-self.margin) * mask).sum(1)
        return value, torch.einsum("bk,bkw->bw", (mask & (costs > -self.margin)).to(leads.dtype), leads)


def neighbors(rows: Tensor, solution: Tensor, serves: Tensor | None, candidates: int) -> tuple[Tensor, Tensor]:
    """Members of S with nothing of S between them and a solution.

    Args:
        rows: ``(|S|, width)`` the members.
        solution: ``(batch, width)``.
        serves: ``(batch, |S|)`` mask of the members that are feasible per instance, or ``None`` for all.
        candidates: nearest members that are considered.

    Returns:
        ``(batch, k, width)`` nearest members and a mask ``(batch, k)`` of the neighbors among them.
    """
    # The test compares sums of distances, which rounding of single precision would spoil.
    rows64, at = rows.to(torch.float64), solution.to(torch.float64)
    distance = torch.cdist(at, rows64, p=1)
    if serves is not None:
        distance = distance.masked_fill(~serves, torch.inf)
    each, member = (distance <= 1e-6 * (1 + at.abs().sum(1, keepdim=True))).nonzero(as_tuple=True)
    # By each coordinate: a large one, such as a constant of the objective, does not hide differences of the others.
    itself = ((rows64[member] - at[each]).abs() <= 1e-6 * (1 + at[each].abs())).all(1)
    distance[each[itself], member[itself]] = torch.inf
    near, place = distance.topk(min(candidates, len(rows)), dim=1, largest=False)
    nearest = rows64[place]
    apart = torch.cdist(nearest, nearest, p=1)
    # w lies in the box between v and u where the distances from v to w and from w to u sum up to that from v to u.
    # The nearest come first. Of two members that are equal up to rounding, only the first is between.
    between = (near[:, :, None] + apart <= near[:, None, :] * (1 + 1e-9)).triu(1)
    return rows[place], ~between.any(1) & torch.isfinite(near)
