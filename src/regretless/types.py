"""The types that every layer shares: sense, status, and the answer of an exact solve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

Sense = Literal["min", "max"]
OnFailure = Literal["raise", "cache", "skip"]


class Status(StrEnum):
    """How a solve ended.

    Attributes:
        OPTIMAL: with a solution that is proven optimal.
        FEASIBLE: with a solution that is not proven optimal, and a proven bound on its gap.
        TIME_LIMIT: stopped by a limit, with the best solution found so far, or with none.
        INFEASIBLE: no feasible solution exists.
        UNBOUNDED: a feasible solution exists, and the objective has no bound.
        ERROR: anything else; a message says what.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    TIME_LIMIT = "time limit"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    ERROR = "error"


@dataclass(frozen=True)
class Solved:
    """A batch of solves, minimizing, in cost space.

    Attributes:
        solution: ``(batch, width)``; a row of NaN where no feasible solution was found.
        status: one status per instance; ``None`` means that all are optimal (the common case, kept cheap).
        gap: ``(batch,)`` relative optimality gaps, or ``None`` when all are zero.
        decision: ``(batch, n)`` full decisions, where the caller needs them.
        message: what went wrong, by position in the batch.
        finite: the oracle makes every solution out of zeros and ones, so it need not be checked; on a GPU a check waits
            for the solves.
    """

    solution: Tensor
    status: Sequence[Status] | None = None
    gap: Tensor | None = None
    decision: Tensor | None = None
    message: Mapping[int, str] = field(default_factory=dict)
    finite: bool = False

    @classmethod
    def of_arrays(
        cls,
        device: torch.device,
        solution: Any,
        status: Sequence[Status],
        gap: Sequence[float],
        message: Mapping[int, str],
        decision: Any = None,
    ) -> Solved:
        """A batch on ``device`` from NumPy arrays, with a status and a gap for every instance."""
        return cls(
            solution=torch.as_tensor(solution, device=device),
            status=None if all(end is Status.OPTIMAL for end in status) else status,
            # Optima may have one, too: those of CP-SAT carry the rounding of their costs.
            gap=torch.as_tensor(gap, dtype=torch.float64, device=device) if any(gap) else None,
            decision=None if decision is None else torch.as_tensor(decision, device=device),
            message=message,
        )

    @property
    def found(self) -> Tensor:
        """``(batch,)`` mask of the instances that have a feasible solution."""
        if self.status is None:
            return torch.ones(len(self.solution), dtype=torch.bool, device=self.solution.device)
        return ~torch.isnan(self.solution).any(dim=1)

    @property
    def statuses(self) -> list[Status]:
        """One status per instance, also where all are optimal."""
        return [Status.OPTIMAL] * len(self.solution) if self.status is None else list(self.status)

    @property
    def not_optimal(self) -> int:
        """How many solves did not end optimal."""
        return 0 if self.status is None else sum(status is not Status.OPTIMAL for status in self.status)


@dataclass(frozen=True)
class Decisions:
    """What ``Problem.solve`` returns, in the user's own sense.

    Attributes:
        solution: ``(batch, width)`` in cost space.
        decision: ``(batch, n)`` values of all variables; the solution itself where there is no model.
        objective: ``(batch,)`` objective at the costs that were given.
        status: one status per instance.
        gap: ``(batch,)`` relative gaps left.
        message: what went wrong, by position.
    """

    solution: Tensor
    decision: Tensor
    objective: Tensor
    status: list[Status]
    gap: Tensor
    message: dict[int, str]


class Backend(Protocol):
    """An exact solver: a batch of costs in, a batch of solutions out, always minimizing."""

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, width)`` costs; with ``decision`` also return the full decisions."""
