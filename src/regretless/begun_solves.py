"""Exact solves of a job that is not finished, on disk by row: after an interruption none of them is made again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.errors import FileError
from regretless.label_memory import NOT_KEPT, row_keys
from regretless.problem import Problem
from regretless.solve_batches import solve_batches
from regretless.solvers.ledger import Purpose
from regretless.storage import MALFORMED, load_state, save_state
from regretless.types import Solved, Status

Rows = dict[bytes, tuple[Tensor, Status]]  # solution and status by key
KIND = "begun-solves"
INTERVAL = 10.0  # seconds of work that a killed process loses
SHARE = 0.05  # of the time may go into writing
WORTH = 1.0  # seconds of work that an interrupted or failed job writes before it ends


class BegunSolves:
    """Rows of solutions in one file, which is written while they are solved and removed when the job is done.

    A row is found by its costs and its constraints, so that rows of a corrected table are solved again, and no others.
    A row whose solve ended by its time limit is found with the same limit only. Without that, a checkpoint would not
    fit the labels of the run that continues from it.
    Decisions that the problem keeps (``problem.found``) are written with them.

    Args:
        path: the file; ``None`` keeps nothing.
        problem: what is solved.
    """

    def __init__(self, path: Path | None, problem: Problem) -> None:
        self.path, self._problem = path, problem
        self._limit = getattr(problem.backend, "time_limit", None)
        self._rows: Rows | None = None
        self._unwritten = False
        self._written = time.monotonic()
        self._wait = INTERVAL

    def keys(self, costs: Tensor, members: Tensor | None) -> list[bytes] | None:
        """One key per row of costs ``(n, d)`` in the user's sense; ``None`` where nothing is kept."""
        return None if self.path is None else row_keys(self._problem, costs, members)

    def find(self, keys: list[bytes]) -> dict[int, tuple[Tensor, Status]]:
        """Positions of the keys that an earlier job has solved, with their solutions.

        Raises:
            FileError: the file is damaged.
        """
        rows = self._read()
        found = {i: rows.get(key) or rows.get(self._with_limit(key)) for i, key in enumerate(keys)}
        return {i: row for i, row in found.items() if row is not None and self._stays(*row)}

    def add(self, keys: list[bytes], solutions: Tensor, status: list[Status]) -> None:
        """Add rows ``(m, width)``; they are written from time to time."""
        rows = self._read()
        for key, row, end in zip(keys, solutions, status, strict=True):
            if self._stays(row, end):
                rows[self._with_limit(key) if end in NOT_KEPT else key] = (row, end)
                self._unwritten = True
        if time.monotonic() - self._written >= self._wait:
            self.write()

    def keep(self) -> None:
        """Write what was solved, unless it is a moment of work."""
        if time.monotonic() - self._written >= WORTH:
            self.write()

    def remove(self, keys: list[bytes]) -> None:
        """Remove rows that are no longer needed; other rows, of another job, stay in the file."""
        done, self._unwritten = {*keys, *map(self._with_limit, keys)}, False
        self._rows = {key: row for key, row in self._on_disk().items() if key not in done}
        if self.path is not None and self._rows:
            save_state(self.path, self._state(self._rows), kind=KIND)
        elif self.path is not None:
            self.path.unlink(missing_ok=True)

    def _read(self) -> Rows:
        if self._rows is None:
            self._rows = self._on_disk()
        return self._rows

    def _on_disk(self) -> Rows:
        if self.path is None or not self.path.exists():
            return {}
        try:
            state = load_state(self.path, kind=KIND)
        except FileError:
            if self.path.exists():
                raise
            return {}  # another job that shares it removed it just now
        try:
            if state["width"] != self._problem.width:  # of another problem, whose keys are others
                return {}
            keys, solutions, status = state["keys"], state["solutions"], state["status"]
            if keys.dtype != torch.uint8 or solutions.shape != (len(keys), self._problem.width):
                raise ValueError(f"{tuple(keys.shape)} keys for solutions of shape {tuple(solutions.shape)}")
            rows = zip(keys.numpy(), solutions, status, strict=True)
            found, decisions = self._problem.found, state.get("decisions")
            if found is not None and decisions is not None and decisions.shape[1] == found.rows.shape[1]:
                found.add(decisions.numpy())
            return {key.tobytes(): (row, Status(end)) for key, row, end in rows}
        except MALFORMED as error:
            raise FileError(f"{self.path}: field 'state' holds no solutions: {error}; remove the file") from error

    def _stays(self, row: Tensor, end: Status) -> bool:
        """Whether a row is kept: one that ended by the clock needs a solution, unless its instance is left out."""
        if end is Status.TIME_LIMIT and self._limit is not None:
            return self._problem.on_failure != "raise" or not bool(torch.isnan(row).any())
        return end not in NOT_KEPT

    def _with_limit(self, key: bytes) -> bytes:
        return hashlib.sha256(key + f":{self._limit}".encode()).digest()

    def write(self) -> None:
        """Write what was added since the last time, beside what other jobs wrote."""
        if self.path is None or not self._unwritten:
            return
        start = time.monotonic()
        save_state(self.path, self._state(self._on_disk() | (self._rows or {})), kind=KIND)
        self._unwritten, self._written = False, time.monotonic()
        self._wait = max(INTERVAL, (self._written - start) / SHARE)

    def _state(self, rows: Rows) -> dict[str, Any]:
        state = {
            "width": self._problem.width,
            "keys": torch.from_numpy(np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1).copy()),
            "solutions": torch.stack([row for row, _ in rows.values()]),
            "status": [str(end) for _, end in rows.values()],
        }
        if self._problem.found is not None:
            state["decisions"] = torch.from_numpy(self._problem.found.rows.copy())
        return state


def beside(checkpoint: Path | str) -> Path:
    """The file of the begun solves of a training with a checkpoint, which belong to no step of it."""
    return Path(checkpoint).with_name(f"{Path(checkpoint).stem}-solves.safetensors")


def solve_rows(
    problem: Problem,
    costs: Tensor,
    members: Tensor | None,
    begun: BegunSolves,
    *,
    purpose: Purpose,
    size: int | None,
    label: str,
    progress: bool | None = None,
) -> Iterator[tuple[list[int], Solved]]:
    """Solve the rows of costs ``(n, d)`` that are not begun, in batches; yield positions and how they were solved.

    Args:
        problem: what is solved.
        costs: in the user's sense.
        members: ``(n,)`` ids, for families.
        begun: rows of an earlier job, which come first; new rows are added.
        purpose: what the solves are counted for, where nothing else is set.
        size, label, progress: as for ``solve_batches``.
    """
    keys = begun.keys(costs, members)
    found = {} if keys is None else begun.find(keys)
    if found:
        yield list(found), Solved(torch.stack([row for row, _ in found.values()]), [end for _, end in found.values()])
    rest = [i for i in range(len(costs)) if i not in found]
    to_minimization = problem.to_minimization(costs, members)
    try:
        for part in solve_batches(problem, len(rest), size=size, label=label, progress=progress):
            some = rest[part]
            with problem.counted_as(purpose, unless_set=True):
                solved = problem.attempt(to_minimization[some], None if members is None else members[some])
            if keys is not None:
                begun.add([keys[i] for i in some], solved.solution.to(torch.float64).cpu(), solved.statuses)
            yield some, solved
    finally:
        begun.keep()
