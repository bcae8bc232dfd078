"""Feasible decisions that are known, and which of them serves a request best."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regretless.deciding.violations import total_violation
from regretless.milp import MILP, TOLERANCE, Floats
from regretless.solvers.found_decisions import CAPACITY, FoundDecisions

BLOCK, COMPARED = 128, 512
SAME = 1e-6  # difference of two decisions, or share of an objective, that rounding explains


@dataclass(frozen=True, eq=False)
class Choice:
    """What the known decisions offer to a request.

    Attributes:
        best: the feasible decision of smallest objective; ``None`` where none is feasible.
        second: the next best one that differs by more than rounding.
        nearest: of the 512 of smallest objective the one that violates least, where none is feasible.
    """

    best: Floats | None = None
    second: Floats | None = None
    nearest: Floats | None = None


class KnownDecisions:
    """Decisions of one set of variables, with the row values that the model gives them.

    A request brings a member of the family: other bounds, other known costs, or another matrix. Row values are stored
    for the matrix of ``milp``, so that a member with that matrix needs comparisons only.

    Args:
        milp: the model that most requests use.
        capacity: largest number of decisions; the oldest is dropped first.
    """

    def __init__(self, milp: MILP, *, capacity: int = CAPACITY) -> None:
        self.milp = milp
        self._found = FoundDecisions(milp.n, capacity=capacity)
        self._activity: Floats = np.empty((0, milp.A.shape[0]))
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._found)

    def add(self, decisions: Floats) -> int:
        """Add decisions ``(m, n)``, and return how many were new."""
        with self._lock:
            positions = self._found.add(np.atleast_2d(decisions))
            if not positions:
                return 0
            if len(self._activity) < len(self._found):
                grown = np.empty((max(len(self._found), 2 * len(self._activity)), self.milp.A.shape[0]))
                grown[: len(self._activity)] = self._activity
                self._activity = grown
            self._activity[positions] = (self.milp.A @ self._found.rows[positions].T).T
            return len(positions)

    def choose(self, milp: MILP, objective: Floats) -> Choice:
        """The best decisions for a member of the family at ``objective`` ``(n,)``, minimizing."""
        with self._lock:  # a full store overwrites its rows
            x = self._found.rows
            if not len(x):
                return Choice()
            order = np.argsort(x @ objective, kind="stable")
            activity = self._activity[: len(x)] if _same(milp.A, self.milp.A) else (milp.A @ x.T).T
            found: list[Floats] = []
            for start in range(0, len(x), BLOCK):  # most requests end with the first block
                block = order[start : start + BLOCK]
                inside = _within(x[block], milp.lower, milp.upper) & _within(
                    activity[block], milp.row_lower, milp.row_upper
                )
                for i in block[inside]:
                    if len(found) < 2 and (not found or differ(found[0], x[i])) and milp.check(x[i])[0]:
                        found.append(x[i].copy())
                if len(found) == 2:
                    break
            if found:
                return Choice(*found)
            near = order[:COMPARED]
            return Choice(nearest=x[near[int(total_violation(milp, x[near], activity[near]).argmin())]].copy())


def differ(one: Floats, other: Floats) -> bool:
    """Whether two decisions ``(n,)`` differ by more than rounding."""
    return bool((np.abs(one - other) > SAME * np.maximum(1.0, np.abs(one))).any())


def _within(values: Floats, low: Floats, high: Floats) -> NDArray[np.bool_]:
    """A first comparison without a look at integrality; ``MILP.check`` decides."""
    room = 10 * TOLERANCE
    low, high = low - room * np.maximum(1.0, np.abs(low)), high + room * np.maximum(1.0, np.abs(high))
    return np.asarray(((values >= low) & (values <= high)).all(axis=1))


def _same(a: object, b: object) -> bool:
    """Whether two sparse matrices are equal."""
    if a is b:
        return True
    parts: list[tuple[NDArray[np.generic], NDArray[np.generic]]] = [
        (getattr(a, name), getattr(b, name)) for name in ("indptr", "indices", "data")
    ]
    return all(np.array_equal(one, other) for one, other in parts)
