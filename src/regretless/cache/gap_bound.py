"""The lower bound of a cache and the gaps that it certifies, built on first use: most policies need none."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regretless.cache.bounds import Bound, BoundKind, make_bound
from regretless.cache.gaps import relative_gaps
from regretless.cache.served_instances import check_instance
from regretless.cache.store import SolutionStore
from regretless.errors import InputError
from regretless.problem import Problem


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
