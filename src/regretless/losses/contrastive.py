"""The paper's contrastive losses: NCE and MAP, over the solution cache."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

from torch import Tensor

from regretless.cache import SolutionCache, SolutionStore
from regretless.cache.scan import Objective
from regretless.errors import InputError
from regretless.losses.base import Loss, Reduction, dot
from regretless.losses.piecewise_linear import PiecewiseLinear
from regretless.problem import Oracle
from regretless.tensors import Array, as_tensor, like

Cost = Literal["c_hat", "c_hat-c", "2c_hat-c"]
_COSTS = ("c_hat", "c_hat-c", "2c_hat-c")
_FACTOR = {"c_hat": 1, "c_hat-c": 1, "2c_hat-c": 2}  # of the prediction in the cost


def transformed(cost: Cost, predicted: Array, true: Array) -> Array:
    """Return ``c~``, the cost at which a margin is taken."""
    if cost == "c_hat":
        return predicted
    return predicted - true if cost == "c_hat-c" else predicted + predicted - true


class _Contrastive(PiecewiseLinear):
    """What both share: linear by default, through autograd where the user brings an objective that is not."""

    objective: Objective | None

    def forward(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None = None) -> Tensor:
        """Compute the loss; see ``Loss.forward``."""
        if self.objective is None:
            return super().forward(predicted, true, solution, instance)
        return Loss.forward(self, predicted, true, solution, instance)

    def with_slope(  # type: ignore[override]
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None = None
    ) -> tuple[Tensor | float, Tensor | None]:
        """Compute the loss for a training step; see ``Loss.with_slope``."""
        if self.objective is None:
            return super().with_slope(predicted, true, solution, instance)
        return Loss.with_slope(self, predicted, true, solution, instance)

    def per_instance(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None) -> Tensor:
        """Margins ``(batch,)``, each with its gradient."""
        if self.objective is None:
            return super().per_instance(predicted, true, solution, instance)
        return self.non_linear(self.objective, predicted, true, solution, instance)

    @abstractmethod
    def non_linear(
        self, objective: Objective, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> Tensor:
        """Margins ``(batch,)`` of an objective that is not linear."""


class NCE(_Contrastive):
    r"""Noise-contrastive loss: the true optimum against the mean of S (Mulamba et al. 2021, Eq. 6 and 9).

    .. math:: \frac{1}{|S|} \sum_{s \in S} f(v^*, \tilde c) - f(s, \tilde c)

    Gradient for linear f, up to the factor 2 of ``2c_hat-c``: :math:`v^* - \bar S`. It does not depend on the
    prediction, and the three costs give one gradient up to a factor: all that NCE learns from is which solutions are in
    S. It needs only the sum of S, so its cost does not depend on the size of S.

    Args:
        cache: the oracle that holds S; each step flips its coins and grows it.
        cost: ``c~``: ``"c_hat"``, ``"c_hat-c"`` or ``"2c_hat-c"``.
        over: ``"mean"`` over S, or the paper's ``"sum"``.
        objective: ``f(solutions, costs)`` on broadcast shapes ``(..., width)``, in the user's sense, where it is not
            linear.
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
        super().__init__(_needs_cache("NCE", cache), reduction=reduction)
        if over not in ("mean", "sum"):
            raise InputError(f"over must be 'mean' or 'sum', got {over!r}")
        self.cache, self.cost, self.over = cache, _known(cost), over
        self.objective = _minimising(objective, cache)

    def piece(self, predicted: Array, true: Array, solution: Array, instance: Tensor | None) -> tuple[Array, Array]:
        """Margins ``(batch,)`` of the true optimum over the mean of S at ``c~``, and their gradients."""
        c = transformed(self.cost, predicted, true)
        store = self._grown(c, predicted, instance)
        lead = solution - like(store.mean(instance), c)  # refuses an instance that no member of S serves
        margins, slope = dot(c, lead), lead if _FACTOR[self.cost] == 1 else lead + lead
        if self.over == "mean":
            return margins, slope
        count = like(store.count(instance), c)
        return margins * count, slope * (count if instance is None else count[:, None])

    def non_linear(
        self, objective: Objective, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> Tensor:
        """Margins ``(batch,)`` of an objective that is not linear."""
        c = transformed(self.cost, predicted, true)
        store = self._grown(c, predicted, instance)
        values = objective(store.rows.to(c.dtype)[None], c[:, None])
        if instance is not None and store.serves is not None:
            store.mean(instance)  # refuses an instance that no member of S serves
            mask = store.serves[instance]
            mean = (values * mask).sum(dim=1) / mask.sum(dim=1)
        else:
            mean = values.mean(dim=1)
        margins = objective(solution, c) - mean
        return margins if self.over == "mean" else margins * store.count(instance).to(c.dtype)

    def _grown(self, c: Array, predicted: Array, instance: Tensor | None) -> SolutionStore:
        self.grow(self.cache, c, predicted, instance)
        store = self.cache.store
        store.to(as_tensor(c).device)
        if len(store) == 0:
            raise InputError("the cache is empty: add solutions first, for example cache.add(train.solutions)")
        return store


class MAP(_Contrastive):
    r"""Maximum-a-posteriori contrastive loss: the true optimum against the worst offender in S (Eq. 8 and 10).

    .. math:: \max_{s \in S} f(v^*, \tilde c) - f(s, \tilde c)

    Gradient for linear f, up to the factor 2 of ``2c_hat-c``: :math:`v^* - s` at the chosen member s.

    Which member is chosen matters. ``select="shifted"`` takes the arg-max of the margin above, at the shifted cost:
    this is what gives the published numbers, and with ``2c_hat-c`` it *is* SPO+ over the cache. ``select="predicted"``
    takes the arg-min at the predicted cost, as the paper's text says; its three costs then have one gradient up to a
    factor.

    Args:
        oracle: answers the arg-min: a ``SolutionCache``, or a ``Problem`` for the maximum over the whole feasible set.
        cost: ``c~``: ``"c_hat"``, ``"c_hat-c"`` or ``"2c_hat-c"``.
        select: ``"shifted"`` or ``"predicted"``.
        objective: ``f(solutions, costs)`` on broadcast shapes ``(..., width)``, in the user's sense, where it is not
            linear; needs a cache.
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
            self.objective = _minimising(objective, _needs_cache("MAP with objective=", oracle))

    def piece(self, predicted: Array, true: Array, solution: Array, instance: Tensor | None) -> tuple[Array, Array]:
        """Margins ``(batch,)`` of the true optimum over the chosen member of S at ``c~``, and their gradients."""
        c = transformed(self.cost, predicted, true)
        query = c if self.select == "shifted" else predicted
        (chosen,) = self.query([query], predicted, solution, instance)
        lead = solution - chosen
        return dot(c, lead), lead if _FACTOR[self.cost] == 1 else lead + lead

    def non_linear(
        self, objective: Objective, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> Tensor:
        """Margins ``(batch,)`` of an objective that is not linear."""
        c = transformed(self.cost, predicted, true)
        cache, query = self.oracle, c if self.select == "shifted" else predicted
        assert isinstance(cache, SolutionCache)
        self.grow(cache, query, predicted, instance)
        (chosen,) = cache.look_up([query.detach()], instance, objective)
        return objective(solution, c) - objective(chosen, c)


def _known(cost: Cost) -> Cost:
    if cost not in _COSTS:
        raise InputError(f"cost must be one of {', '.join(map(repr, _COSTS))}, got {cost!r}")
    return cost


def _needs_cache(what: str, oracle: object) -> SolutionCache:
    if not isinstance(oracle, SolutionCache):
        raise InputError(
            f"{what} needs a SolutionCache, got {type(oracle).__name__}: wrap it in SolutionCache(problem)"
        )
    return oracle


def _minimising(objective: Objective | None, cache: SolutionCache) -> Objective | None:
    """Turn the user's objective into one that is minimised."""
    if objective is None or cache.problem.sense == "min":
        return objective
    return _Negated(objective)


class _Negated:
    """A maximised objective as a minimised one; a class, so that losses can be pickled."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def __call__(self, solutions: Tensor, costs: Tensor) -> Tensor:
        return -self.objective(solutions, -costs)
