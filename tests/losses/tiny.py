"""Problems small enough to list every feasible point, one of each kind that a loss may meet."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache as remembered

import numpy as np
import torch
from torch import Tensor

from regretless.cache import SolutionCache
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem

WEIGHTS = np.array([3.0, 4.0, 5.0, 2.0])
MAP = np.array([[1.0, 0.5, 0.0, 2.0], [0.0, 1.0, 1.5, 0.0], [2.0, 0.0, 1.0, 1.0]])
KNOWN = np.array([0.5, -1.0, 0.25, 2.0])


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of problem: plain, with a cost map, with known costs, or a family."""

    cost_map: np.ndarray | None = None
    known: np.ndarray | None = None
    constant: float = 0.0
    limits: tuple[float, ...] = (8.0,)

    @remembered  # noqa: B019
    def still(self) -> Problem:
        """A problem for its shapes and its model; no test solves it."""
        return self.problem()

    @property
    def is_family(self) -> bool:
        return len(self.limits) > 1

    def problem(self, sense: str = "min", **settings) -> Problem:
        """The problem; with ``sense="max"`` the same one, mirrored."""
        milps = self.milps(1.0 if sense == "min" else -1.0)
        return Problem(Family(milps) if self.is_family else milps[0], sense=sense, **settings)

    @remembered  # noqa: B019 - five kinds, for the whole run
    def milps(self, sign: float) -> list[MILP]:
        """One model per limit."""
        known = None if self.known is None else sign * self.known
        return [
            MILP([WEIGHTS], row_upper=limit, cost_map=self.cost_map, fixed_cost=known, constant=sign * self.constant)
            for limit in self.limits
        ]

    @remembered  # noqa: B019
    def points(self, instance: int = 0) -> Tensor:
        """All of V in cost space ``(m, width)``, for the minimizing problem."""
        x = np.array([x for x in itertools.product([0.0, 1.0], repeat=4) if WEIGHTS @ x <= self.limits[instance]])
        model = self.still().model
        return torch.as_tensor((model[instance] if isinstance(model, Family) else model).solution(x))

    def to_minimization(self, costs: Tensor) -> Tensor:
        """Costs with the weight of known costs, minimizing."""
        return self.still().to_minimization(costs)


KINDS = {
    "plain": Kind(),
    "mapped": Kind(cost_map=MAP),
    "known": Kind(known=KNOWN, constant=0.75),
    "mapped and known": Kind(cost_map=MAP, known=KNOWN, constant=-1.5),
    "family": Kind(limits=(2.0, 5.0, 9.0)),
}


@dataclass(frozen=True)
class Batch:
    """What a loss is called with, for the minimizing problem, and S."""

    predicted: Tensor
    true: Tensor
    solution: Tensor
    instance: Tensor | None
    cached: Tensor
    cached_for: Tensor | None

    def mirrored(self, width_known: bool) -> Batch:
        """The same for the maximizing problem."""

        def flip(solutions: Tensor) -> Tensor:
            if not width_known:
                return solutions
            return torch.cat([solutions[:, :-1], -solutions[:, -1:]], dim=1)

        return Batch(
            -self.predicted, -self.true, flip(self.solution), self.instance, flip(self.cached), self.cached_for
        )


def best(points: Tensor, cost: Tensor) -> Tensor:
    """Arg-min over listed points of one cost vector."""
    return points[(points @ cost).argmin()]


def batch(kind: Kind, *, n: int = 6, seed: int = 0) -> Batch:
    """Random costs that favor taking items, their true optima, and some feasible solutions for S."""
    generator = torch.Generator().manual_seed(seed)
    d = kind.still().dimension
    predicted, true = (torch.randn(n, d, generator=generator, dtype=torch.float64) - 0.3 for _ in range(2))
    ids = torch.arange(n) % len(kind.limits)
    to_minimization = kind.to_minimization(true)
    solution = torch.stack([best(kind.points(i), c) for i, c in zip(ids.tolist(), to_minimization, strict=True)])
    # Each instance brings its optimum and one more point, so that S is neither V nor trivial.
    more = []
    for i in ids.tolist():
        points = kind.points(i)
        more.append(points[int(torch.randint(len(points), (1,), generator=generator))])
    cached, cached_for = torch.cat([solution, torch.stack(more)]), ids.repeat(2)
    if kind.is_family:
        return Batch(predicted, true, solution, ids, cached, cached_for)
    return Batch(predicted, true, solution, None, cached, None)


def cache(problem: Problem, b: Batch, **settings) -> SolutionCache:
    """A cache that holds the batch's S, in double precision."""
    settings = {"p_solve": 0.0, "dtype": torch.float64} | settings
    return SolutionCache(problem, b.cached, instance=b.cached_for, **settings)


def members(kind: Kind, b: Batch, row: int) -> Tensor:
    """The distinct members of S that are feasible for one instance of the batch."""
    cached = torch.unique(b.cached, dim=0)
    if b.instance is None:
        return cached
    points = kind.points(int(b.instance[row]))
    return cached[(cached[:, None] == points[None]).all(dim=2).any(dim=1)]


def value_and_gradient(loss, b: Batch, *, path: str = "fit") -> tuple[Tensor, Tensor]:
    """The loss, and the gradient ``(batch, d)`` of its sum at the prediction.

    Args:
        loss: any loss.
        b: what it is called with.
        path: ``"fit"``, the call that ``fit`` makes, or ``"autograd"``, what a user's own loop does.
    """
    if path == "fit":
        return loss.loss_and_gradient(b.predicted, b.true, b.solution, b.instance)
    predicted = b.predicted.clone().requires_grad_()
    values = loss(predicted, b.true, b.solution, b.instance)
    values.sum().backward()
    assert predicted.grad is not None
    return values.detach(), predicted.grad
