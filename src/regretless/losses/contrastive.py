"""The paper's contrastive losses, NCE and MAP, over the solution cache."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from regretless.arrays import Numbers, dot
from regretless.cache import SolutionCache
from regretless.cache.lookup import Objective
from regretless.errors import InputError
from regretless.losses.base import Reduction
from regretless.losses.closed_form import ClosedFormLoss
from regretless.losses.loss_checks import needs_cache
from regretless.losses.members import members
from regretless.oracle import Oracle
from regretless.tensors import in_dtype

Cost = Literal["c_hat", "c_hat-c", "2c_hat-c"]
_COSTS = get_args(Cost)


class NCE(ClosedFormLoss):
    r"""Noise-contrastive loss: the true optimum against the mean of S (Mulamba et al. 2021, Eq. 5 and 8).

    .. math:: \frac{1}{|S|} \sum_{s \in S} f(v^*, \tilde c) - f(s, \tilde c)

    Gradient for linear f, up to the factor 2 of ``2c_hat-c``: :math:`v^* - \bar S`. It does not depend on the
    prediction, and the three costs give one gradient up to a factor: NCE learns only from which solutions are in S. It
    needs only the sum of S, so its cost does not depend on the size of S.

    Args:
        cache: the oracle that holds S; each step flips its coins and grows it.
        cost: ``c~``: ``"c_hat"``, ``"c_hat-c"`` or ``"2c_hat-c"``.
        over: ``"mean"`` over S, or the paper's ``"sum"``.
        objective: ``f(solutions, costs)`` on broadcast shapes ``(..., width)``, in the user's sense, for objectives
            that are not linear.
        reduction: over the batch.
    """

    def __init__(
        self,
        cache: SolutionCache,
        *,
        cost: Cost = "c_hat",
        over: Literal["mean", "sum"] = "mean",
        objective: Objective | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(needs_cache("NCE", cache), reduction=reduction)
        if over not in ("mean", "sum"):
            raise InputError(f"over must be 'mean' or 'sum', got {over!r}")
        self.cache, self.cost, self.over = cache, _known(cost), over
        self.objective = _minimizing(objective, cache)

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Margins of the true optimum over the mean of S at ``c~``, and their gradients."""
        c = transformed(self.cost, predicted, true)
        self.grow(self.cache, c, predicted, instance)
        with self.cache.lock:  # other threads may add to S
            mean = in_dtype(self.cache.store.mean(instance), c.dtype)  # refuses an instance without a feasible solution
            count = None if self.over == "mean" else self.cache.store.count(instance).to(c.dtype)
        if self.objective is None:
            lead = solution - mean
            margins, slope = dot(c, lead), lead
        else:
            margins, slope = _differentiated(self._margin, self.objective, c, solution, instance)
        if self.cost == "2c_hat-c":
            slope = slope + slope
        if count is None:
            return margins, slope
        return margins * count, slope * (count if instance is None else count[:, None])

    def _margin(self, objective: Objective, c: Tensor, solution: Tensor, instance: Tensor | None) -> Tensor:
        """Margins of an objective that is not linear."""
        columns, mask = members(self.cache, c, instance)
        values = objective(columns.T[None], c[:, None])
        if mask is None:
            return objective(solution, c) - values.mean(dim=1)
        return objective(solution, c) - (values * mask).sum(dim=1) / mask.sum(dim=1)


class MAP(ClosedFormLoss):
    r"""Maximum-a-posteriori contrastive loss: the true optimum against one member of S.

    .. math:: \max_{s \in S} f(v^*, \tilde c) - f(s, \tilde c)

    (Mulamba et al. 2021, Eq. 6 and 9). Gradient for linear f, up to the factor 2 of ``2c_hat-c``: :math:`v^* - s` at
    the chosen member s.

    The choice of the member matters. ``select="shifted"`` takes the arg-max of the margin above, at the shifted cost:
    this gives the published numbers, and with ``2c_hat-c`` it *is* SPO+ over the cache. ``select="predicted"`` takes
    the arg-min at the predicted cost, as the paper's text says; its three costs then have one gradient up to a factor.

    Args:
        oracle: answers the arg-min: a ``SolutionCache``, or a ``Problem`` for the maximum over the feasible set.
        cost: ``c~``: ``"c_hat"``, ``"c_hat-c"`` or ``"2c_hat-c"``.
        select: ``"shifted"`` or ``"predicted"``.
        objective: ``f(solutions, costs)`` on broadcast shapes ``(..., width)``, in the user's sense, for objectives
            that are not linear; needs a cache.
        reduction: over the batch.
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        cost: Cost = "c_hat-c",
        select: Literal["shifted", "predicted"] = "shifted",
        objective: Objective | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(oracle, reduction=reduction)
        if select not in ("shifted", "predicted"):
            raise InputError(f"select must be 'shifted' or 'predicted', got {select!r}")
        self.cost, self.select = _known(cost), select
        self.objective = None
        if objective is not None:
            self.objective = _minimizing(objective, needs_cache("MAP with objective=", oracle))

    def operations(self) -> Hashable:
        """See ``ClosedFormLoss.operations``."""
        return (self.cost, self.select) if type(self) is MAP and self.objective is None else None

    def takes_arrays(self) -> bool:
        """See ``ClosedFormLoss.takes_arrays``."""
        return type(self) is MAP and self.objective is None

    def value_and_gradient(
        self, predicted: Numbers, true: Numbers, solution: Numbers, instance: Tensor | None
    ) -> tuple[Numbers, Numbers]:
        """Margins of the true optimum over the chosen member of S at ``c~``, and their gradients."""
        c = transformed(self.cost, predicted, true)
        query = c if self.select == "shifted" else predicted
        if self.objective is None:
            (chosen,) = self.query([query], predicted, true, solution, instance)
            slope = solution - chosen
            margins = dot(c, slope)
        else:
            margins, slope = self._of_objective(self.objective, c, query, predicted, solution, instance)
        return margins, slope + slope if self.cost == "2c_hat-c" else slope

    def _of_objective(
        self, objective: Objective, c: Any, query: Any, predicted: Any, solution: Any, instance: Tensor | None
    ) -> Any:
        """Margins of an objective that is not linear, and their gradients."""
        cache = needs_cache("MAP with objective=", self.oracle)
        self.grow(cache, query, predicted, instance)
        (chosen,) = cache.look_up([query], instance, objective)
        return _differentiated(_margin, objective, c, solution, chosen)


def transformed(cost: Cost, predicted: Numbers, true: Numbers) -> Numbers:
    """Return ``c~``, the cost at which a margin is taken."""
    if cost == "c_hat":
        return predicted
    return predicted - true if cost == "c_hat-c" else predicted + predicted - true


def _margin(objective: Objective, c: Tensor, solution: Tensor, chosen: Tensor) -> Tensor:
    return objective(solution, c) - objective(chosen, c)


def _differentiated(
    margin: Callable[..., Tensor], objective: Objective, c: Tensor, *more: Any
) -> tuple[Tensor, Tensor]:
    """Margins of an objective that is not linear, and their gradients at ``c`` by autograd."""
    with torch.enable_grad():
        leaf = c.detach().requires_grad_()
        margins = margin(objective, leaf, *more)
        if not margins.requires_grad:
            raise InputError("objective must depend on its costs by operations of torch: got values without a graph")
        (slope,) = torch.autograd.grad(margins.sum(), leaf)
    return margins.detach(), slope


def _known(cost: Cost) -> Cost:
    if cost not in _COSTS:
        raise InputError(f"cost must be one of {', '.join(map(repr, _COSTS))}, got {cost!r}")
    return cost


def _minimizing(objective: Objective | None, cache: SolutionCache) -> Objective | None:
    """Turn the user's objective into one that is minimized."""
    if objective is not None and not callable(objective):
        raise InputError(f"objective must be a function (solutions, costs) -> values, got {type(objective).__name__}")
    return None if objective is None else _Minimized(objective, negate=cache.problem.sense == "max")


class _Minimized:
    """The user's objective as one that is minimized, with a check of its values.

    A class, so that losses can be pickled.
    """

    def __init__(self, objective: Objective, *, negate: bool) -> None:
        self.objective, self.negate = objective, negate

    def __call__(self, solutions: Tensor, costs: Tensor) -> Tensor:
        values: Any = self.objective(solutions, -costs if self.negate else costs)
        expected = np.broadcast_shapes(solutions.shape, costs.shape)[:-1]
        if not isinstance(values, Tensor) or values.shape != expected:
            got = tuple(values.shape) if isinstance(values, Tensor) else type(values).__name__
            raise InputError(
                f"objective must return a tensor with one value per solution and cost vector, for shapes "
                f"{tuple(solutions.shape)} and {tuple(costs.shape)} one of shape {expected}, got {got}: sum over the "
                "last dimension, as in (solutions * costs).sum(-1)"
            )
        found: Tensor = values
        return -found if self.negate else found
