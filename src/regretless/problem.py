"""A problem: a model or a solver, with a sense, as a batched exact oracle."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.family import Family, member
from regretless.milp import MILP, Floats
from regretless.modeling.convex import ConvexProgram
from regretless.solvers import EnginePool, FunctionBackend
from regretless.solvers.checked_solve import check_finite, checked_solve, refuse_failures
from regretless.tensors import ids, tensor
from regretless.types import Backend, Decisions, OnFailure, Sense, Solved, Status


class Oracle(Protocol):
    """Anything that answers costs with solutions, always minimising: a ``Problem``, or a cache around one."""

    @property
    def problem(self) -> Problem:
        """The problem whose solutions are returned."""
        ...

    def answer(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> list[Tensor]:
        """Answer several cost vectors an instance, from the same side of the coin where there is one.

        Args:
            queries: tensors ``(batch, width)``: the transformed costs at which solutions are wanted.
            predicted: ``(batch, width)`` predicted costs, for oracles that solve there.
            instance: ``(batch,)`` ids for families.

        Returns:
            One ``(batch, width)`` tensor a query; a row of NaN says that the instance is to be left out.
        """
        ...


@dataclass
class SolveStatistics:
    """What the exact solver did so far; ``failed`` are those of the not optimal ones that have no solution at all."""

    solves: int = 0
    seconds: float = 0.0
    not_optimal: int = 0
    failed: int = 0
    by_status: Counter[str] = field(default_factory=Counter)


class Problem:
    """A batched exact oracle with a sense.

    Args:
        model: a ``MILP``, a ``Family`` of them, a ``ConvexProgram``, or ``None`` when only a solver is there.
        oracle: solves it: ``None`` for ``engine``, an object with ``solve(costs, instance)`` that minimises in cost
            space (a ``Backend``), or a plain function ``costs -> solution`` that speaks the user's sense.
        dimension: number d of predicted costs; needed only without a model.
        sense: ``"min"`` or ``"max"``, of the user's objective.
        engine: name of the engine that solves the model where there is no oracle.
        workers: threads that solve side by side.
        time_limit: seconds for one solve by an engine or a function; one that hangs past it is given up on. An oracle
            with ``solve`` keeps its own.
        on_failure: what a failed solve does in training: ``"raise"`` stops with the instance named, ``"cache"`` uses
            the best cached solution instead, ``"skip"`` leaves the instance out of the step.
        instances: number of instances, where a plain function serves a family without a model.
        bound: the problem's own fast lower bound, ``(costs, instance) -> (batch,)`` of minimising float64 costs; gap
            policies of a cache use it in place of the Lagrangian bound of the model.
        name: for messages and reports; without a model it also tells stored labels and caches apart.
        options: settings of the engine.

    >>> problem = Problem(oracle=lambda c: c == c.max(), dimension=3, sense="max")
    >>> problem.solve([[1.0, 5.0, 2.0]]).objective.tolist()
    [5.0]
    """

    def __init__(
        self,
        model: MILP | Family | ConvexProgram | None = None,
        *,
        oracle: Backend | Callable[..., Any] | None = None,
        dimension: int | None = None,
        sense: Sense = "min",
        engine: str = "highs",
        workers: int = 1,
        time_limit: float | None = None,
        on_failure: OnFailure = "raise",
        instances: int | None = None,
        bound: Callable[[Tensor, Tensor | None], Tensor] | None = None,
        name: str = "",
        **options: Any,
    ) -> None:
        if sense not in ("min", "max"):
            raise InputError(f"sense must be 'min' or 'max', got {sense!r}")
        if on_failure not in ("raise", "cache", "skip"):
            raise InputError(f"on_failure must be 'raise', 'cache' or 'skip', got {on_failure!r}")
        width = None
        if isinstance(model, ConvexProgram):  # it is its own oracle
            oracle, dimension, width = model, model.dimension, model.width
            model = None
        if model is None and (oracle is None or dimension is None):
            raise InputError("a problem needs a model, or an oracle together with dimension=d")
        if model is not None and dimension not in (None, member(model).dimension):
            raise InputError(f"dimension is {member(model).dimension} in the model, got {dimension}")
        if oracle is not None and options:
            raise InputError(f"options are settings of an engine, and here an oracle solves: got {', '.join(options)}")
        if isinstance(model, MILP) and instances is not None:
            raise InputError("instances= is for functions that serve a family; a family with models is a Family")
        for what, count in (("dimension", dimension), ("instances", instances)):
            if count is not None and count < 1:
                raise InputError(f"{what} must be at least 1, got {count}")
        self.model, self.sense, self.on_failure, self.name = model, sense, on_failure, name
        self.bound = bound
        self._options = options
        self.engine = engine if oracle is None else ""
        self.dimension: int = dimension if model is None else member(model).dimension  # type: ignore[assignment]
        self.width: int = (width or self.dimension) if model is None else member(model).width
        self.instances = len(model) if isinstance(model, Family) else instances
        self.sign = 1.0 if sense == "min" else -1.0
        self.statistics = SolveStatistics()
        self.backend: Backend
        if oracle is None:
            assert model is not None
            self.backend = EnginePool(model, engine=engine, workers=workers, time_limit=time_limit, **options)
        elif hasattr(oracle, "solve"):
            if time_limit is not None:
                raise InputError(f"{type(oracle).__name__} solves by itself: set its own time limit, not time_limit=")
            self.backend = oracle
        else:
            self.backend = FunctionBackend(
                oracle,
                width=self.width,
                sign=self.sign,
                model=model,
                with_instance=self.is_family,
                time_limit=time_limit,
            )

    def __repr__(self) -> str:
        return (
            f"Problem({self.name or 'unnamed'}, dimension={self.dimension}, sense={self.sense!r}, solver={self.solver})"
        )

    @property
    def problem(self) -> Problem:
        """The problem itself: a problem is the simplest oracle."""
        return self

    @property
    def is_family(self) -> bool:
        """Whether constraints differ from instance to instance."""
        return self.instances is not None

    @property
    def fingerprint(self) -> str:
        """Hash of the feasible set: caches and labels with another one are refused."""
        if self.model is not None:
            return self.model.fingerprint
        if isinstance(self.backend, ConvexProgram):
            return self.backend.fingerprint
        function = getattr(self.backend, "function", self.backend)
        label = getattr(function, "__qualname__", type(function).__qualname__)
        return hashlib.sha256(f"{label}:{self.name}:{self.dimension}:{self.sense}".encode()).hexdigest()[:32]

    @property
    def solver(self) -> str:
        """Who solves, and with which settings: another solver may choose another of several optima."""
        if self.engine:
            return f"{self.engine}({', '.join(f'{key}={self._options[key]!r}' for key in sorted(self._options))})"
        return type(self.backend).__qualname__

    def to_minimization(self, costs: Tensor) -> Tensor:
        """Costs in the user's sense ``(batch, d)`` to minimising costs ``(batch, width)``.

        Known costs are one more coordinate whose cost is 1: formulas that are linear in the costs then treat them
        right.
        """
        if self.width > self.dimension:
            costs = torch.cat([costs, costs.new_ones(len(costs), 1)], dim=1)
        return -costs if self.sense == "max" else costs

    def answer(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> list[Tensor]:
        """Solve every query exactly; see ``Oracle``."""
        if len(queries) == 1:
            return [self(queries[0], instance)]
        ids = None if instance is None else instance.repeat(len(queries))
        return list(self(torch.cat(list(queries)), ids).chunk(len(queries)))

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Solve ``(batch, width)`` costs, minimising; rows of NaN for failures unless ``on_failure="raise"``."""
        solved = self.attempt(costs, instance)
        if self.on_failure == "raise":
            refuse_failures(solved, instance)
        return solved.solution.to(costs.dtype)

    def attempt(
        self,
        costs: Tensor,
        instance: Tensor | None = None,
        *,
        decision: bool = False,
        starts: Sequence[Floats | None] | None = None,
    ) -> Solved:
        """Solve ``(batch, width)`` costs, minimising, and report failures instead of raising them.

        Args:
            costs: what to minimise.
            instance: ``(batch,)`` ids, for families.
            decision: also return the full decisions.
            starts: for engines, a feasible decision ``(n,)`` an instance to start from, or ``None``.

        Raises:
            InputError: costs are not finite or of the wrong shape, or an instance is unknown.
        """
        costs = costs.detach()
        self._check(costs, instance)
        start = time.perf_counter()
        solved = checked_solve(self.backend, costs, instance, decision=decision, width=self.width, starts=starts)
        statistics = self.statistics
        statistics.seconds += time.perf_counter() - start
        statistics.solves += costs.shape[0]
        if solved.status is not None:
            statistics.not_optimal += solved.not_optimal
            statistics.failed += int((~solved.found).sum())
            statistics.by_status.update(str(status) for status in solved.status if status is not Status.OPTIMAL)
        return solved

    def solve(self, costs: Any, instance: Any = None) -> Decisions:
        """Solve for costs in the user's own sense.

        Args:
            costs: ``(batch, d)`` tensor, array or nested list.
            instance: ``(batch,)`` ids, for families.

        Returns:
            Solutions, full decisions, objectives, and how each solve ended. Failures are reported, not raised.
        """
        given = tensor("costs", costs).to(torch.float64)
        if given.ndim != 2 or given.shape[1] != self.dimension:
            raise InputError(f"costs must have shape (batch, {self.dimension}), got {tuple(given.shape)}")
        check_finite(given)
        members = ids(instance)
        to_minimization = self.to_minimization(given)
        solved = self.attempt(to_minimization, members, decision=True)
        solution = solved.solution.to(torch.float64)
        return Decisions(
            solution=solution,
            decision=solution if solved.decision is None else solved.decision,
            objective=self.sign * (to_minimization * solution).sum(dim=1),
            status=solved.statuses,
            gap=given.new_zeros(len(given)) if solved.gap is None else solved.gap,
            message=dict(solved.message),
        )

    def feasible(self, solutions: Tensor) -> Tensor | None:
        """``(instances, m)`` mask of which solutions serve which instance, or ``None`` when it cannot be told."""
        if isinstance(self.model, Family) and self.model.shares:
            mask = self.model.feasible(solutions.detach().cpu().to(torch.float64).numpy())
            return torch.as_tensor(mask, device=solutions.device)
        return None

    def check_instance(self, instance: Tensor | None, batch: int) -> None:
        """Refuse a missing, superfluous or unknown instance."""
        if self.instances is None:
            if instance is not None:
                raise InputError("this problem is no family: leave out instance=")
            return
        if instance is None:
            raise InputError(
                f"this problem is a family of {self.instances} instances: pass instance= with (batch,) ids"
            )
        if instance.shape != (batch,):
            raise InputError(f"instance must have shape ({batch},), got {tuple(instance.shape)}")
        if batch and (int(instance.min()) < 0 or int(instance.max()) >= self.instances):
            bad = instance[(instance < 0) | (instance >= self.instances)][0]
            raise InputError(f"instance must be between 0 and {self.instances - 1}, got {int(bad)}")

    def _check(self, costs: Tensor, instance: Tensor | None) -> None:
        if costs.ndim != 2 or costs.shape[1] != self.width:
            raise InputError(f"costs must have shape (batch, {self.width}), got {tuple(costs.shape)}")
        check_finite(costs)
        if instance is not None or self.instances is not None:
            self.check_instance(instance, len(costs))
