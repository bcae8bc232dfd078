"""True optima of a job that is not finished, on disk by row: after an interruption none of them is solved again."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from regretless.errors import FileError
from regretless.label_memory import NOT_KEPT
from regretless.problem import Problem
from regretless.storage import MALFORMED, load_state, save_state
from regretless.types import Status

KIND = "begun-labels"
INTERVAL = 10.0  # seconds of work that a killed process loses
SHARE = 0.05  # of the time may go into writing
WORTH = 1.0  # seconds of work that an interrupted or failed job writes before it ends


class BegunLabels:
    """Rows of labels in one file, which is written while they are solved and removed when all of them are.

    A row is found by its costs and its constraints, so that rows of a corrected table are solved again, and no others.
    A row whose solve ended by its time limit is found with the same limit only. Without that, a checkpoint would not
    fit the labels of the run that continues from it.
    Decisions that the problem keeps (``problem.found``) are written with them.

    Args:
        store: folder of the file.
        problem: what is solved.
    """

    def __init__(self, store: Path, problem: Problem) -> None:
        about = f"{problem.name}:{problem.width}:{problem.sense}:{problem.label_solver}"
        self.path = store / f"begun-{hashlib.sha256(about.encode()).hexdigest()[:32]}.safetensors"
        self._problem = problem
        self._limit = getattr(problem.backend, "time_limit", None)
        self._rows: dict[bytes, tuple[Tensor, Status]] | None = None
        self._unwritten = False
        self._written = time.monotonic()
        self._wait = INTERVAL

    def find(self, keys: list[bytes]) -> dict[int, tuple[Tensor, Status]]:
        """Positions of the keys that an earlier job has solved, with their labels.

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

    @contextlib.contextmanager
    def kept_on_failure(self) -> Iterator[None]:
        """Write what was solved when the block fails or is interrupted; nothing is written for very short work."""
        try:
            yield
        except BaseException:
            if time.monotonic() - self._written >= WORTH:
                self.write()
            raise

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> dict[bytes, tuple[Tensor, Status]]:
        if self._rows is not None:
            return self._rows
        self._rows = {}
        if not self.path.exists():
            return self._rows
        state = load_state(self.path, kind=KIND)
        try:
            keys, solutions, status = state["keys"], state["solutions"], state["status"]
            if keys.dtype != torch.uint8 or solutions.shape != (len(keys), self._problem.width):
                raise ValueError(f"{tuple(keys.shape)} keys for solutions of shape {tuple(solutions.shape)}")
            rows = zip(keys.numpy(), solutions, status, strict=True)
            self._rows = {key.tobytes(): (row, Status(end)) for key, row, end in rows}
            if self._problem.found is not None and "decisions" in state:
                self._problem.found.add(state["decisions"].numpy())
        except MALFORMED as error:
            raise FileError(f"{self.path}: field 'state' holds no labels: {error}; remove the file") from error
        return self._rows

    def _stays(self, row: Tensor, end: Status) -> bool:
        """Whether a row is kept: one that ended by the clock needs a solution, unless its instance is left out."""
        if end is Status.TIME_LIMIT and self._limit is not None:
            return self._problem.on_failure != "raise" or not bool(torch.isnan(row).any())
        return end not in NOT_KEPT

    def _with_limit(self, key: bytes) -> bytes:
        return hashlib.sha256(key + f":{self._limit}".encode()).digest()

    def write(self) -> None:
        """Write what was added since the last time."""
        if not self._unwritten:
            return
        start = time.monotonic()
        rows = self._rows or {}
        state = {
            "keys": torch.from_numpy(np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1).copy()),
            "solutions": torch.stack([row for row, _ in rows.values()]),
            "status": [str(end) for _, end in rows.values()],
        }
        if self._problem.found is not None:
            state["decisions"] = torch.from_numpy(self._problem.found.rows.copy())
        save_state(self.path, state, kind=KIND)
        self._unwritten, self._written = False, time.monotonic()
        self._wait = max(INTERVAL, (self._written - start) / SHARE)
