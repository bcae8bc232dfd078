"""Certified gaps: the best cached value from above, a bound from below that is built on first use."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.cache.bounds import Bound, BoundKind, make_bound
from regretless.cache.served_instances import check_instance
from regretless.cache.store import SolutionStore
from regretless.errors import InputError
from regretless.milp import Floats
from regretless.problem import Problem
from regretless.solvers.checked_solve import check_finite

# Sums of some hundred float64 products differ by this much, relative to the sum of their sizes.
ROUNDING = 1e-12


def relative_gaps(
    store: SolutionStore, bound: Bound, costs: Tensor, instance: Tensor | None, *, note: bool = False
) -> Tensor:
    """``(f(s) - L) / max(|f(s)|, |L|)`` of the best member s of S and the bound L, at each cost.

    A difference within rounding counts as zero: stored solutions are rounded to the precision of the store, so their
    values are known up to that precision times ``sum |c_i s_i|``.

    Args:
        store: the members of S.
        bound: the bound.
        costs: ``(batch, width)`` minimizing.
        instance: ``(batch,)`` ids, for families.
        note: whether the bound may learn from this.

    Returns:
        ``(batch,)`` float64; infinite where there is no bound, or no cached solution.
    """
    costs = costs.detach()
    value, noise = _best_values(store, costs, instance)
    if not np.isfinite(value).all():
        check_finite(costs)
    least = bound(costs, instance, value=torch.from_numpy(value), note=note).cpu().numpy()
    # NumPy handles a few numbers in a tenth of torch's time.
    open_ = value - least
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = open_ / np.maximum(np.abs(value), np.abs(least))
    gap[open_ <= noise] = 0.0
    gap[~np.isfinite(open_)] = np.inf
    return torch.from_numpy(gap).to(costs.device)


def _best_values(store: SolutionStore, costs: Tensor, instance: Tensor | None) -> tuple[Floats, Floats]:
    """Values ``(batch,)`` of the best members of S in float64, infinite where there is none, and their noise."""
    served = None
    if len(store) and instance is not None:
        store.to(costs.device)
        served = store.count(instance) > 0
    if not len(store) or (served is not None and not bool(served.all())):
        value, noise = np.full(len(costs), np.inf), np.zeros(len(costs))
        if served is not None and instance is not None and bool(served.any()):
            mask = served.cpu().numpy()
            value[mask], noise[mask] = _best_values(store, costs[served], instance[served])
        return value, noise
    rows = store.best(costs, instance)
    precision = max(4 * torch.finfo(rows.dtype).eps, ROUNDING)
    products = costs.to("cpu", torch.float64).numpy() * rows.cpu().numpy()
    return products.sum(axis=1), precision * np.abs(products).sum(axis=1)


class GapBound:
    """A bound that is built and seeded when it is first needed.

    Args:
        problem: what is bounded.
        kind: as in ``make_bound``; one that the problem does not have is refused at once.
    """

    def __init__(self, problem: Problem, kind: BoundKind | Bound | None) -> None:
        self.kind = kind
        self._problem = problem
        self._prepared: tuple[Tensor, Tensor | None] | None = None
        self._seeds: tuple[Tensor, Tensor | None] | None = None  # the same, until the bound has them
        self._made: Bound | None = None if kind is None else make_bound(problem, kind)

    def get(self) -> Bound | None:
        """The bound; ``None`` where the problem has none."""
        if self._made is None:
            self._made = make_bound(self._problem, self.kind)
        if self._made is not None and self._seeds is not None:
            seeds, self._seeds = self._seeds, None
            self._made.seed(*seeds)
        return self._made

    def prepare(self, costs: Tensor, instance: Tensor | None) -> None:
        """Set the training costs that the bound is seeded with."""
        self._prepared = self._seeds = (costs, instance)

    def gaps(self, store: SolutionStore, costs: Tensor, instance: Tensor | None, *, note: bool) -> Tensor:
        """Certified relative gaps ``(batch,)`` of the best members of a store; with ``note`` the bound may learn."""
        bound = self.get()
        if bound is None:
            raise InputError("gaps need a bound, and this problem has neither a MILP nor a bound function")
        self._problem.check_costs(costs)
        check_instance(self._problem, store, instance, len(costs))
        return relative_gaps(store, bound, costs, instance, note=note)

    def learn(self, costs: Tensor, instance: Tensor | None, solutions: Tensor) -> None:
        """Learn from optimal solutions; a bound that was never needed stays unbuilt."""
        if self._made is not None:
            exact = (costs.to(torch.float64) * solutions.to(torch.float64)).sum(dim=1)
            self._made.learn(costs, instance, exact)

    def state_dict(self) -> dict[str, Any] | None:
        """What the bound has learned; ``None`` for one that was never needed."""
        return None if self._made is None else self._made.state_dict()

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        """Continue from ``state``, which takes the place of the training costs; ``None`` starts a new bound."""
        if state is None:
            self._seeds = self._prepared
            self._made = None if self.kind is None else make_bound(self._problem, self.kind)
        else:
            self._seeds = None
            bound = self.get()
            if bound is not None:
                bound.load_state_dict(state)
