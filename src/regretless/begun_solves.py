"""Exact solves of a job that is not finished, on disk by row: after an interruption none of them is made again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.errors import FileError, RegretlessWarning
from regretless.label_memory import NOT_KEPT, row_keys
from regretless.problem import Problem
from regretless.solve_batches import solve_batches
from regretless.solvers.found_decisions import FoundDecisions
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

    Args:
        path: the file; ``None`` keeps nothing.
        found: decisions that the problem keeps (``problem.found``), which are written with the rows.
        required: whether a file that cannot be read or written is an error; otherwise a warning names it, and the job
            goes on and keeps nothing.
    """

    def __init__(self, path: Path | None, found: FoundDecisions | None = None, *, required: bool = True) -> None:
        self.path, self._found, self._required = path, found, required
        self._rows: Rows | None = None
        self._used: set[bytes] = set()
        self._unwritten = False
        self._written = time.monotonic()
        self._wait = INTERVAL

    def keys(self, problem: Problem, costs: Tensor, members: Tensor | None) -> list[bytes] | None:
        """One key per row of costs ``(n, d)`` in the user's sense; ``None`` where nothing is kept."""
        return None if self.path is None else row_keys(problem, costs, members)

    def find(self, problem: Problem, keys: list[bytes]) -> dict[int, tuple[Tensor, Status]]:
        """Positions of the keys that an earlier job has solved, with their solutions.

        Raises:
            FileError: the file is damaged.
        """
        rows, late = self._read(), [_with_limit(problem, key) for key in keys]
        self._used.update(keys, late)
        found = {i: rows.get(key) or rows.get(late[i]) for i, key in enumerate(keys)}
        return {i: row for i, row in found.items() if row is not None and _stays(problem, *row)}

    def add(self, problem: Problem, keys: list[bytes], solutions: Tensor, status: list[Status]) -> None:
        """Add rows ``(m, width)``; they are written from time to time."""
        rows = self._read()
        for key, row, end in zip(keys, solutions, status, strict=True):
            if _stays(problem, row, end):
                key = _with_limit(problem, key) if end in NOT_KEPT else key
                rows[key] = (row, end)
                self._used.add(key)
                self._unwritten = True
        if time.monotonic() - self._written >= self._wait:
            self.write()

    def keep(self) -> None:
        """Write what was solved, unless it is a moment of work."""
        if time.monotonic() - self._written >= WORTH:
            self.write()

    def write(self) -> None:
        """Write what was added since the last time, beside what other jobs wrote."""
        if not self._unwritten:
            return
        start = time.monotonic()
        own = {key: row for key, row in self._read().items() if key in self._used}  # others may be removed by now
        self._save(self._on_disk() | own)
        self._unwritten, self._written = False, time.monotonic()
        self._wait = max(INTERVAL, (self._written - start) / SHARE)

    def remove(self) -> None:
        """Remove the rows that this job has used; other rows, of another job, stay in the file."""
        there, self._unwritten = self._on_disk(), False
        self._rows = {key: row for key, row in there.items() if key not in self._used}
        if len(self._rows) < len(there):
            self._save(self._rows)

    def _read(self) -> Rows:
        if self._rows is None:
            self._rows = self._on_disk()
        return self._rows

    def _on_disk(self) -> Rows:
        if self.path is None:
            return {}
        try:
            return self._loaded(self.path)
        except FileError as error:
            if self.path.exists():
                self._give_up(error)
            return {}

    def _loaded(self, path: Path) -> Rows:
        state = load_state(path, kind=KIND)
        try:
            # A file may be shared by problems of several sizes.
            keys, solutions, widths, status = (state[name] for name in ("keys", "solutions", "widths", "status"))
            if keys.dtype != torch.uint8 or solutions.shape != (sum(widths),):
                raise ValueError(f"solutions of shape {tuple(solutions.shape)} for rows of {sum(widths)} values in all")
            rows = zip(keys.numpy(), torch.split(solutions, widths), status, strict=True)
            found, decisions = self._found, state.get("decisions")
            if found is not None and decisions is not None and decisions.shape[1] == found.rows.shape[1]:
                found.add(decisions.numpy())
            return {key.tobytes(): (row, Status(end)) for key, row, end in rows}
        except MALFORMED as error:
            raise FileError(f"{path}: field 'state' holds no solutions: {error}; remove the file") from error

    def _save(self, rows: Rows) -> None:
        """Write all rows; without any there is no file."""
        if self.path is None:
            return
        try:
            if rows:
                save_state(self.path, self._state(rows), kind=KIND)
            else:
                self.path.unlink(missing_ok=True)
        except (FileError, OSError) as error:
            self._give_up(error)

    def _give_up(self, error: FileError | OSError) -> None:
        if self._required:
            raise error
        self.path = None
        warnings.warn(f"exact solves are not kept for an interruption: {error}", RegretlessWarning, stacklevel=2)

    def _state(self, rows: Rows) -> dict[str, Any]:
        state = {
            "keys": torch.from_numpy(np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1).copy()),
            "solutions": torch.cat([row for row, _ in rows.values()]),
            "widths": [len(row) for row, _ in rows.values()],
            "status": [str(end) for _, end in rows.values()],
        }
        if self._found is not None:
            state["decisions"] = torch.from_numpy(self._found.rows.copy())
        return state


def _stays(problem: Problem, row: Tensor, end: Status) -> bool:
    """Whether a row is kept: one that ended by the clock needs a solution, unless its instance is left out."""
    if end is Status.TIME_LIMIT and _limit(problem) is not None:
        return problem.on_failure != "raise" or not bool(torch.isnan(row).any())
    return end not in NOT_KEPT


def _with_limit(problem: Problem, key: bytes) -> bytes:
    return hashlib.sha256(key + f":{_limit(problem)}".encode()).digest()


def _limit(problem: Problem) -> float | None:
    limit: float | None = getattr(problem.backend, "time_limit", None)
    return limit


@contextlib.contextmanager
def kept_until_done(path: Path) -> Iterator[BegunSolves]:
    """Begun solves of a job that writes no other file there: they stay in ``path`` only while the job is not done.

    In a folder that is read-only nothing is kept. Where the file itself cannot be read or written, as on a full disk,
    a warning says so, and the job goes on without it.

    Raises:
        KeyboardInterrupt: with a message that names the file, where the one that came has none.
    """
    begun = BegunSolves(path if os.access(path.parent, os.W_OK) else None, required=False)
    try:
        yield begun
    except BaseException as error:
        begun.keep()
        if isinstance(error, KeyboardInterrupt) and not error.args and begun.path is not None and path.exists():
            said = f"interrupted: {path} keeps the exact solves so far, and the same command continues"
            raise KeyboardInterrupt(said) from None
        raise
    begun.remove()


def beside(file: Path | str) -> Path:
    """The file of the begun solves of a job, beside the file that it works on, such as a checkpoint."""
    return Path(file).with_name(f"{Path(file).stem}-solves.safetensors")


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
    keys = begun.keys(problem, costs, members)
    found = {} if keys is None else begun.find(problem, keys)
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
                begun.add(problem, [keys[i] for i in some], solved.solution.to(torch.float64).cpu(), solved.statuses)
            yield some, solved
    finally:
        begun.keep()
