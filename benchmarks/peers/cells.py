"""What is measured on both sides: methods, shares of solves, and the job of one process. Needs only Python.

Both sides import this file, each in its own virtual environment, so both measure the same thing.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any

BATCH_SIZE = 24
METHODS = ("nce", "map", "spo", "blackbox")
SHARES = (1.0, 0.05)
TITLES = {"nce": "NCE", "map": "MAP", "spo": "SPO+", "blackbox": "Blackbox"}
# The processes of a cell take turns, so that a phase in which the machine is slow affects all sides alike.
EPOCHS_PER_TURN = 4
TURN_OVER = "my turn is over"
# |S|, width and batch of the measurements on a large cache.
POOL, WIDTH, ROWS = 50_000, 500, 32


@dataclass(frozen=True)
class Job:
    """What one process of one side runs: some methods, one after the other.

    Attributes:
        data: file with the arrays both sides read.
        methods: of ``METHODS``.
        p_solve: share of solves; PyEPO's ``solve_ratio``.
        seed: of the initial weights, the order of the days, and the coin.
        epochs: number of training epochs.
        backend: the solver of PyEPO; for regretless the policy (default: one coin per instance).
        loop: ``"loader"``: PyEPO reads batches from a ``DataLoader``, as in its documentation; ``"sliced"``: it slices
            tensors. ``"fit"``: regretless trains with ``fit``; ``"steps"``: in a loop of one's own with ``Batches`` and
            ``make_step``; ``"backward"``: in one with ``Batches``, ``backward()`` and ``LeanAdam``; ``"torch"``: in one
            of which only the loss is ours.
        turns: whether the process waits for its turns.
    """

    data: str
    methods: tuple[str, ...]
    p_solve: float
    seed: int
    epochs: int
    backend: str = "ortools"
    loop: str = "fit"
    turns: bool = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a line of standard input, and say afterwards that the turn is over."""
        if self.turns:
            sys.stdin.readline()
        yield
        if self.turns:
            print(TURN_OVER, flush=True)

    def as_argument(self) -> str:
        """The job as one argument of a command."""
        return json.dumps(asdict(self))


def read_job() -> Job | None:
    """Read the job from the command line; ``None`` for ``scale``, the measurements on a large cache."""
    parser = argparse.ArgumentParser()
    parser.add_argument("job", help="a job in JSON, or the word scale")
    text = parser.parse_args().job
    return None if text == "scale" else Job(**json.loads(text))


class Clock:
    """Wall and CPU seconds of a block, without those between the turns of a job."""

    def __init__(self, job: Job | None = None) -> None:
        self.wall = self.cpu = 0.0
        self._turns, self._epochs = job is not None and job.turns, 0

    def __enter__(self) -> Clock:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        value: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.wall += time.perf_counter() - self._wall
        self.cpu += time.process_time() - self._cpu

    def epoch_done(self) -> None:
        """After some epochs, let the others take their turns."""
        self._epochs += 1
        if self._turns and self._epochs % EPOCHS_PER_TURN == 0:
            self.__exit__()
            print(TURN_OVER, flush=True)
            sys.stdin.readline()
            self.__enter__()


def answer(**figures: Any) -> None:
    """Print the figures of a run as one line of JSON, with the peak memory of the process so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(figures | {"peak_mb": peak}), flush=True)
