"""True optima by row, in memory: rows that were solved before in this process are not solved again."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import Any

from torch import Tensor

from regretless.family import Family
from regretless.problem import Problem
from regretless.types import Status

MOST_NUMBERS = 50_000_000  # 400 MB
# A solve that ended by the clock or by a fault may succeed the next time.
NOT_KEPT = (Status.TIME_LIMIT, Status.ERROR)


class LabelMemory:
    """A bounded store of labels; the rows that were used least recently are dropped. Safe for threads.

    A row is found by its costs, its model, the sense and the solver. Problems that cannot be told apart are not stored:
    a function without a model and a name, and an oracle with values that have no hash.

    Args:
        most: largest number of values in all stored solutions.
    """

    def __init__(self, most: int = MOST_NUMBERS) -> None:
        self.most, self._numbers = most, 0
        self._rows: OrderedDict[bytes, tuple[Tensor, Status]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rows)

    def __deepcopy__(self, memo: dict[int, Any]) -> LabelMemory:
        return self  # clones of an estimator share it

    def find(self, keys: list[bytes]) -> dict[int, tuple[Tensor, Status]]:
        """Positions of the keys that are stored, with their labels."""
        found = {}
        with self._lock:
            for i, key in enumerate(keys):
                if key in self._rows:
                    self._rows.move_to_end(key)
                    found[i] = self._rows[key]
        return found

    def put(self, key: bytes, solution: Tensor, status: Status) -> None:
        """Store a label, unless its solve ended by the clock or by a fault: it may succeed the next time."""
        if status in NOT_KEPT:
            return
        with self._lock:
            if key not in self._rows:
                self._numbers += solution.numel()
            self._rows[key] = (solution.clone(), status)
            while self._numbers > self.most and len(self._rows) > 1:
                _, (dropped, _) = self._rows.popitem(last=False)
                self._numbers -= dropped.numel()


def row_keys(problem: Problem, costs: Tensor, members: Tensor | None) -> list[bytes] | None:
    """One key per row of costs ``(n, d)``: a hash of all that its label depends on.

    Args:
        problem: what is solved.
        costs: ``(n, d)`` true costs in the user's sense.
        members: ``(n,)`` ids, for families.

    Returns:
        The keys; ``None`` where the problem cannot be told from others.
    """
    solver = problem.label_solver
    if solver is None or (problem.model is None and not problem.name):
        return None
    about = f"{problem.sense}:{solver}:".encode()
    family = problem.model if isinstance(problem.model, Family) else None
    ids = [0] * len(costs) if members is None else members.tolist()
    if family is None:  # a function may serve instances without models
        prints = {i: f"{problem.fingerprint}:{i}".encode() for i in set(ids)}
    else:
        prints = {i: family.member_fingerprint(i).encode() for i in set(ids)}
    rows = costs.detach().cpu().contiguous().numpy()
    return [hashlib.sha256(about + prints[i] + row.tobytes()).digest() for i, row in zip(ids, rows, strict=True)]
