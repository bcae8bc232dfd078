"""Full decisions to start exact solves from: what the cache found so far, the best at the cost at hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.types import Solved

CAPACITY = 256


class WarmStarts:
    """The latest decisions, each with the solution in cost space and the instance it belongs to.

    S holds solutions in cost space, where the full decision behind one cannot be read off; an engine needs the latter.
    So a bounded number of them is kept beside S. What is handed out depends on what the cache solved, in its order, and
    not on threads or the clock.

    Args:
        width: columns of a solution.
        variables: of a decision.
        capacity: how many to keep; the oldest goes first.
    """

    def __init__(self, width: int, variables: int, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._solutions: Floats = np.empty((0, width))
        self._decisions: Floats = np.empty((0, variables))
        self._instances: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._solutions)

    def best(self, costs: Tensor, instance: Tensor | None) -> list[Floats | None]:
        """For each cost ``(batch, width)`` the best decision of its instance, ``None`` where there is none."""
        if not len(self):
            return [None] * len(costs)
        values = costs.detach().cpu().to(torch.float64).numpy() @ self._solutions.T
        if instance is not None:
            values = np.where(instance.cpu().numpy()[:, None] == self._instances, values, np.inf)
        places = values.argmin(axis=1)
        none = np.isinf(values[np.arange(len(places)), places])
        return [None if nothing else self._decisions[place] for nothing, place in zip(none, places, strict=True)]

    def add(self, solved: Solved, instance: Tensor | None) -> None:
        """Keep the decisions of a batch; those that are kept already count as new again."""
        assert solved.decision is not None
        found = solved.found.cpu().numpy()
        ids = np.zeros(len(found), dtype=np.int64) if instance is None else instance.cpu().numpy()
        solutions = np.concatenate([self._solutions, solved.solution.cpu().numpy()[found]])
        decisions = np.concatenate([self._decisions, solved.decision.cpu().numpy()[found]])
        ids = np.concatenate([self._instances, ids[found]])
        # The last of equal ones stays: they serve the same costs equally well.
        _, last = np.unique(np.column_stack([ids, solutions])[::-1], axis=0, return_index=True)
        keep = np.sort(len(ids) - 1 - last)[-self.capacity :]
        self._solutions, self._decisions, self._instances = solutions[keep], decisions[keep], ids[keep]

    def state_dict(self) -> dict[str, Any]:
        """What is kept, as tensors."""
        return {
            "solutions": torch.from_numpy(self._solutions.copy()),
            "decisions": torch.from_numpy(self._decisions.copy()),
            "instances": torch.from_numpy(self._instances.copy()),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over the content of ``state``."""
        parts = [state[name].numpy() for name in ("solutions", "decisions", "instances")]
        mine = (self._solutions, self._decisions, self._instances)
        fitting = all(
            part.shape[1:] == own.shape[1:] and part.ndim == own.ndim for part, own in zip(parts, mine, strict=True)
        )
        if not fitting or len({len(part) for part in parts}) > 1 or not all(np.isfinite(part).all() for part in parts):
            raise InputError("the decisions that a cache starts its solves from do not fit its problem or each other")
        self._solutions, self._decisions = parts[0].astype(np.float64), parts[1].astype(np.float64)
        self._instances = parts[2].astype(np.int64)
