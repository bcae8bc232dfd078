"""Full decisions from which exact solves start: the best decision found so far at the current costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.errors import InputError
from regretless.family import member
from regretless.milp import Floats
from regretless.problem import Problem
from regretless.types import Solved

CAPACITY = 256


class WarmStarts:
    """The latest decisions, each with the solution in cost space and the instance it belongs to.

    S holds solutions in cost space, from which the full decision cannot be recovered, and an engine starts from a full
    decision. A bounded number of decisions is therefore kept beside S. Which one is returned depends only on the solves
    of the cache and their order, not on threads or time.

    Args:
        width: length of a solution.
        variables: length of a decision.
        capacity: largest number of decisions; the oldest is dropped first.
    """

    def __init__(self, width: int, variables: int, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._solutions: Floats = np.empty((0, width))
        self._decisions: Floats = np.empty((0, variables))
        self._instances: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._solutions)

    def best(self, costs: Tensor, instance: Tensor | None) -> list[Floats | None]:
        """Best decision of its instance per cost vector ``(batch, width)``; ``None`` where there is none."""
        if not len(self):
            return [None] * len(costs)
        values = costs.detach().cpu().to(torch.float64).numpy() @ self._solutions.T
        if instance is not None:
            values = np.where(instance.cpu().numpy()[:, None] == self._instances, values, np.inf)
        places = values.argmin(axis=1)
        none = np.isinf(values[np.arange(len(places)), places])
        return [None if nothing else self._decisions[place] for nothing, place in zip(none, places, strict=True)]

    def add(self, solved: Solved, instance: Tensor | None) -> None:
        """Add the decisions of a batch; a decision that is known counts as new."""
        assert solved.decision is not None
        found = solved.found.cpu().numpy()
        ids = np.zeros(len(found), dtype=np.int64) if instance is None else instance.cpu().numpy()
        solutions = np.concatenate([self._solutions, solved.solution.cpu().numpy()[found]])
        decisions = np.concatenate([self._decisions, solved.decision.cpu().numpy()[found]])
        ids = np.concatenate([self._instances, ids[found]])
        # Of equal solutions the last is kept: all of them have the same objective at every cost.
        _, last = np.unique(np.column_stack([ids, solutions])[::-1], axis=0, return_index=True)
        keep = np.sort(len(ids) - 1 - last)[-self.capacity :]
        self._solutions, self._decisions, self._instances = solutions[keep], decisions[keep], ids[keep]

    def state_dict(self) -> dict[str, Any]:
        """Solutions, decisions and instances as tensors."""
        return {
            "solutions": torch.from_numpy(self._solutions),
            "decisions": torch.from_numpy(self._decisions),
            "instances": torch.from_numpy(self._instances),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace the content by that of ``state``."""
        parts = [state[name].numpy() for name in ("solutions", "decisions", "instances")]
        mine = (self._solutions, self._decisions, self._instances)
        fitting = all(
            part.shape[1:] == own.shape[1:] and part.ndim == own.ndim for part, own in zip(parts, mine, strict=True)
        )
        if not fitting or len({len(part) for part in parts}) > 1 or not all(np.isfinite(part).all() for part in parts):
            raise InputError("the decisions that a cache starts its solves from do not fit its problem or each other")
        self._solutions, self._decisions = parts[0].astype(np.float64), parts[1].astype(np.float64)
        self._instances = parts[2].astype(np.int64)


def starts_for(problem: Problem) -> WarmStarts:
    """Warm starts for a problem that an engine solves; any other is refused."""
    if not problem.engine or problem.model is None:
        raise InputError(f"warm_start=True needs an engine, and here {problem.solver} solves: use warm_start=False")
    return WarmStarts(problem.width, member(problem.model).n)
