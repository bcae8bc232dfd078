"""A problem: a model or a solver, with a sense, as a batched exact oracle."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

from regretless.arrays import Numbers, with_ones
from regretless.cost_columns import by_name, checked_names
from regretless.errors import InputError
from regretless.family import Family
from regretless.known_costs import KnownCosts
from regretless.milp import Floats
from regretless.modeling.convex import ConvexProgram
from regretless.modeling.read_model import model_and_sense
from regretless.number_checks import check_integer
from regretless.oracle_identity import oracle_identity
from regretless.solvers.backends import engine_backend, oracle_backend
from regretless.solvers.checked_solve import check_finite, checked_solve, refuse_failures
from regretless.solvers.found_decisions import FoundDecisions
from regretless.solvers.ledger import Purpose, SolveStatistics, counted_as
from regretless.tensors import ids, tensor
from regretless.types import Backend, Decisions, OnFailure, Sense, Solved

__all__ = ["Problem", "SolveStatistics"]


class Problem:
    """A batched exact oracle with a sense.

    Args:
        model: a ``MILP``, a ``Family`` of them, a ``ConvexProgram``, or what ``regretless.modeling.read`` takes or
            returns: the path of an ``.mps`` or ``.lp`` file, or a model of CPMpy, Pyomo, cvxpy, MathOpt, gurobipy or
            linopy. ``None`` where only an oracle exists.
        oracle: solves it: ``None`` for ``engine``, an object with ``solve(costs, instance, *, decision=False)`` that
            minimizes batches in cost space (a ``regretless.types.Backend``), or a plain function ``costs -> solution``
            in the user's own sense. Its code, and the values that it uses when the problem is made, tell stored labels
            apart and, without a model, caches. A string attribute ``fingerprint`` stands for them where they cannot be
            hashed, such as a solver's own model.
        dimension: number d of predicted costs; needed only without a model.
        sense: ``"min"`` or ``"max"``, of the user's objective; by default that of the model that was read, else
            ``"min"``.
        engine: name of the engine that solves the model where there is no oracle.
        workers: instances that are solved at the same time, by an engine or a function. Python functions then run in
            threads, which helps where they wait or release the interpreter lock; see ``executor``. ``None``: one
            thread per core for an engine that solves one instance at a time, else one.
        time_limit: seconds for one solve by an engine or a function; one that exceeds it is abandoned. An oracle
            with ``solve`` keeps its own.
        executor: who solves: ``"threads"``; ``"processes"`` for Python functions that can be pickled and for engines
            that crash; or ``"ray"`` or ``"ray:ADDRESS"`` for a cluster.
        on_failure: what a failed solve does in training: ``"raise"`` stops with the instance named, ``"cache"`` uses
            the best cached solution instead, ``"skip"`` leaves the instance out of the step.
        instances: number of instances, where a plain function serves a family without a model.
        bound: the problem's own fast lower bound, ``(costs, instance) -> (batch,)`` of minimizing float64 costs; gap
            policies of a cache use it in place of the Lagrangian bound of the model.
        cost_names: names of the d costs; by default the model's. Columns of data frames are matched to them.
        name: for messages and reports; without a model it also distinguishes caches, and stored labels need it.
        options: settings of the engine: ``gap``, the relative distance to the optimum at which a solve with integer
            variables may end (0 by default), and others under the engine's own names.

    >>> problem = Problem(oracle=lambda c: c == c.max(), dimension=3, sense="max")
    >>> problem.solve([[1.0, 5.0, 2.0]]).objective.tolist()
    [5.0]
    """

    def __init__(
        self,
        model: Any = None,
        *,
        oracle: Backend | Callable[..., Any] | None = None,
        dimension: int | None = None,
        sense: Sense | None = None,
        engine: str = "highs",
        workers: int | None = 1,
        time_limit: float | None = None,
        executor: str = "threads",
        on_failure: OnFailure = "raise",
        instances: int | None = None,
        bound: Callable[[Tensor, Tensor | None], Tensor] | None = None,
        cost_names: Sequence[str] | None = None,
        name: str = "",
        **options: Any,
    ) -> None:
        if sense not in (None, "min", "max"):
            raise InputError(f"sense must be 'min' or 'max', got {sense!r}")
        model, sense = model_and_sense(model, sense)
        if on_failure not in ("raise", "cache", "skip"):
            raise InputError(f"on_failure must be 'raise', 'cache' or 'skip', got {on_failure!r}")
        width, own_names = None, getattr(model, "cost_names", None)
        if isinstance(model, ConvexProgram):  # it is its own oracle
            oracle, dimension, width = model, model.dimension, model.width
            model = None
        if model is None and (oracle is None or dimension is None):
            raise InputError("a problem needs a model, or an oracle together with dimension=d")
        if model is not None and dimension not in (None, model.dimension):
            raise InputError(f"dimension is {model.dimension} in the model, got {dimension}")
        if "cost_variables" in options:  # an engine would refuse it only when it solves
            raise InputError("cost_variables is an argument of read: Problem(read(model, cost_variables=...))")
        if oracle is not None and options:
            raise InputError(f"options are settings of an engine, and here an oracle solves: got {', '.join(options)}")
        if model is not None and instances is not None:
            raise InputError("instances= is for functions that serve a family; a family with models is a Family")
        for what, function in (("oracle", oracle), ("bound", bound)):
            if function is not None and not callable(function) and not hasattr(function, "solve"):
                raise InputError(f"{what} must be a function or None, got {type(function).__name__}")
        for what, count in (("dimension", dimension), ("instances", instances)):
            if count is not None:
                check_integer(what, count, least=1)
        self.model, self.sense, self.on_failure, self.name = model, sense, on_failure, name
        self.bound = bound
        self.options = oracle.options if isinstance(oracle, ConvexProgram) else options
        self.engine = engine if oracle is None else ""
        self.dimension: int = dimension if model is None else model.dimension  # type: ignore[assignment]
        self.width: int = (width or self.dimension) if model is None else model.width
        self._instances = instances
        self._known = KnownCosts(model)
        self.cost_names = own_names if cost_names is None else checked_names(cost_names, self.dimension)
        self.sign = 1.0 if sense == "min" else -1.0
        # An oracle of this library is known by its class and the model that it agrees with.
        ours = model is not None and type(oracle).__module__.startswith("regretless.")
        known = oracle is None or ours or isinstance(oracle, ConvexProgram)
        self.identity = None if known else oracle_identity(oracle)
        self.statistics = SolveStatistics()
        self.found: FoundDecisions | None = None  # where the full decisions of all solves are kept
        self.backend: Backend
        how: dict[str, Any] = {"workers": workers, "time_limit": time_limit, "executor": executor}
        if oracle is None:
            self.backend = engine_backend(model, engine=engine, **how, **options)
        else:
            of_function = {"width": self.width, "sign": self.sign, "model": model, "with_instance": self.is_family}
            how["workers"] = 1 if workers is None else workers
            self.backend = oracle_backend(oracle, settings=of_function, **how)

    def __repr__(self) -> str:
        return (
            f"Problem({self.name or 'unnamed'}, dimension={self.dimension}, sense={self.sense!r}, solver={self.solver})"
        )

    @property
    def problem(self) -> Problem:
        """The problem itself: a problem is the simplest oracle."""
        return self

    @property
    def workers(self) -> int:
        """Number of instances that are solved at the same time."""
        return int(getattr(self.backend, "workers", 1))

    @property
    def instances(self) -> int | None:
        """Number of instances of a family so far, or ``None``."""
        return len(self.model) if isinstance(self.model, Family) else self._instances

    @property
    def is_family(self) -> bool:
        """Whether constraints differ between instances."""
        return self.instances is not None

    @property
    def family(self) -> Family:
        """The family of models, to which members may be added at any time.

        Raises:
            InputError: the problem is one model, or has none.
        """
        if not isinstance(self.model, Family):
            raise InputError("this problem is no family: build it with Problem(Family.vary(milp, ...))")
        return self.model

    @property
    def has_known_costs(self) -> bool:
        """Whether part of the objective is known in advance."""
        if isinstance(self.model, Family):
            return self.model.known is not None and bool(self.model.known.any())
        return self.width > self.dimension

    @property
    def fingerprint(self) -> str:
        """Hash of the feasible set: caches and labels with another one are refused."""
        if self.model is not None:
            found: str = self.model.fingerprint
            return found
        if isinstance(self.backend, ConvexProgram):
            return self.backend.fingerprint
        function = getattr(self.backend, "function", self.backend)
        label = getattr(function, "__qualname__", type(function).__qualname__)
        what = "" if self.identity is None else f":{self.identity.digest}"
        return hashlib.sha256(f"{label}:{self.name}:{self.dimension}:{self.sense}{what}".encode()).hexdigest()[:32]

    @property
    def solver(self) -> str:
        """Name and settings of the solver: another one may choose another of several optima."""
        settings = ", ".join(f"{key}={self.options[key]!r}" for key in sorted(self.options))
        if self.engine:
            return f"{self.engine}({settings})"
        return type(self.backend).__qualname__ + (f"({settings})" if settings else "")

    @property
    def label_solver(self) -> str | None:
        """The solver in the keys of labels; ``None`` where an oracle cannot be told from others."""
        if self.identity is None:
            return self.solver
        return None if self.identity.unknown else f"{self.solver}({self.identity.digest})"

    def to_minimization(self, costs: Numbers, instance: Tensor | None = None) -> Numbers:
        """Costs in the user's sense ``(batch, d)`` to minimizing costs ``(batch, width)``.

        Known costs of a model are one more coordinate whose cost is 1. Known costs of a family are added to the
        predicted ones. So formulas that are linear in the costs need no special case.

        Args:
            costs: predicted or true costs.
            instance: ``(batch,)`` ids, for families.
        """
        if isinstance(self.model, Family):
            if self.model.known is not None:
                self.check_instance(instance, len(costs))
                costs = self._known.add(costs, instance)  # type: ignore[arg-type, assignment]  # always tensors
        elif self.width > self.dimension:
            costs = with_ones(costs)
        return -costs if self.sense == "max" else costs

    def answer(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> list[Tensor]:
        """Solve every query exactly; see ``regretless.oracle.Oracle``."""
        if len(queries) == 1:
            return [self(queries[0], instance)]
        ids = None if instance is None else instance.repeat(len(queries))
        costs = torch.cat(list(queries))
        solved = self.attempt(costs, ids)
        if self.on_failure == "raise" and solved.status is not None:
            # A failure is named by its place in the batch, whichever query it belongs to.
            refuse_failures(solved, ids, list(range(len(queries[0]))) * len(queries))
        return list(solved.solution.to(costs.dtype).chunk(len(queries)))

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Solve ``(batch, width)`` costs, minimizing; rows of NaN for failures unless ``on_failure="raise"``."""
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
        """Solve ``(batch, width)`` costs, minimizing, and report failures instead of raising them.

        Args:
            costs: what to minimize.
            instance: ``(batch,)`` ids, for families.
            decision: also return the full decisions.
            starts: for engines, a feasible decision ``(n,)`` to start from per instance, or ``None``.

        Raises:
            InputError: costs are not finite or of the wrong shape, or an instance is unknown.
        """
        if costs.requires_grad:
            costs = costs.detach()
        self.check_costs(costs)
        check_finite(costs)
        if instance is not None or self.is_family:
            self.check_instance(instance, costs.shape[0])
        start = time.perf_counter()
        wanted = decision or self.found is not None
        solved = checked_solve(self.backend, costs, instance, decision=wanted, width=self.width, starts=starts)
        self.statistics.add(solved, time.perf_counter() - start)
        if self.found is not None and solved.decision is not None:
            self.found.add(solved.decision.cpu().numpy())
        return solved

    def counted_as(self, purpose: Purpose, *, unless_set: bool = False) -> AbstractContextManager[None]:
        """Count the exact solves inside of a ``with`` block for a purpose; see ``solvers.ledger.counted_as``."""
        return counted_as(purpose, unless_set=unless_set)

    def costs(self, given: Any) -> Tensor:
        """Costs ``(n, d)`` as a float64 tensor, with the columns of a data frame matched to ``cost_names``.

        Raises:
            InputError: not numbers, of another shape, not finite, or columns that are missing or unknown.
        """
        costs = tensor("costs", by_name(given, self.cost_names)).to(torch.float64)
        if costs.ndim != 2 or costs.shape[1] != self.dimension:
            raise InputError(f"costs must have shape (n, {self.dimension}), got {tuple(costs.shape)}")
        check_finite(costs)
        return costs

    def solve(self, costs: Any, instance: Any = None) -> Decisions:
        """Solve for costs in the user's own sense.

        Args:
            costs: ``(batch, d)`` tensor, array, nested list or data frame; columns of a data frame are matched to
                ``cost_names``.
            instance: ``(batch,)`` ids, for families.

        Returns:
            Solutions, full decisions, objectives, and how each solve ended. Failures are reported, not raised.
        """
        given, members = self.costs(costs), ids(instance)
        to_minimization = self.to_minimization(given, members)
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

    def feasible(self, solutions: Tensor, members: Sequence[int] | None = None) -> Tensor | None:
        """``(instances, m)`` mask of the instances for which each solution is feasible; ``None`` where it is unknown.

        Args:
            solutions: ``(m, width)``.
            members: ids of the instances; all of them when ``None``.
        """
        if not isinstance(self.model, Family):
            return None
        x = self.model.decisions(solutions.detach().cpu().to(torch.float64).numpy())
        return torch.as_tensor(self.model.feasible(x, members=members), device=solutions.device)

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

    def check_costs(self, costs: Tensor) -> None:
        """Refuse costs of another shape than ``(batch, width)``, and integers, to which answers would be rounded."""
        if not costs.is_floating_point():
            raise InputError(f"costs must be floating-point numbers, got {costs.dtype}: use costs.float()")
        if costs.ndim != 2 or costs.shape[1] != self.width:
            raise InputError(f"costs must have shape (batch, {self.width}), got {tuple(costs.shape)}")
