"""How far a grid is, and how long the rest will take."""

from __future__ import annotations

import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TextIO

from regretless.runs.spec import Spec

EVERY = 30.0


class GridProgress:
    """A line on standard error: a bar on a terminal, a line every half minute elsewhere.

    Runs of one kind take alike, and kinds differ by factors of hundreds: the time left is the sum over what is left of
    the mean of its kind so far, or of all kinds where there is none yet.

    Args:
        label: what is being done.
        specs: the runs to do.
        skipped: runs that were done before.
        workers: processes at it.
        stream: where to write; ``None`` writes nothing.
    """

    def __init__(
        self,
        label: str,
        specs: Sequence[Spec],
        *,
        skipped: int = 0,
        workers: int = 1,
        stream: TextIO | None = sys.stderr,
    ) -> None:
        self.label, self.workers, self.stream = label, workers, stream
        self.left: dict[str, int] = defaultdict(int)
        for spec in specs:
            self.left[_kind(spec)] += 1
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.total, self.done, self.failed = len(specs) + skipped, skipped, 0
        self.shown = time.monotonic()
        self.open_line = False

    def report(self, spec: Spec | None, answer: dict[str, Any]) -> None:
        """Count a run that ended (``None``: only time has passed) and show where it stands."""
        if spec is not None:
            self.left[_kind(spec)] -= 1
            self.done += 1
            self.seconds[_kind(spec)].append(float(answer["seconds"]))
            if answer["status"] == "failed":
                self.failed += 1
                self._say(f"failed: {spec.problem}, {spec.method}, seed {spec.seed}: {answer['error']}")
        self._show()

    def seconds_left(self) -> float | None:
        """Estimate; ``None`` before the first run has ended."""
        known = [value for values in self.seconds.values() for value in values]
        if not known:
            return None
        mean = statistics.fmean(known)
        work = sum(
            n * (statistics.fmean(s) if (s := self.seconds.get(kind)) else mean) for kind, n in self.left.items()
        )
        return work / self.workers

    def line(self) -> str:
        """Where it stands, in words."""
        left = self.seconds_left()
        share = self.done / max(self.total, 1)
        text = f"{self.label} [{'#' * int(24 * share):<24}] {self.done}/{self.total} runs"
        text += f", {self.failed} failed" if self.failed else ""
        return text + ("" if left is None else f", {duration(left)} left")

    def close(self) -> None:
        """End the line."""
        if self.open_line and self.stream is not None:
            self.stream.write("\n")
            self.open_line = False

    def _show(self) -> None:
        if self.stream is None:
            return
        now, terminal = time.monotonic(), self.stream.isatty()
        if now - self.shown < (0.2 if terminal else EVERY):
            return
        self.shown = now
        self.open_line = terminal
        self.stream.write(f"\r{self.line()}\x1b[K" if terminal else f"{self.line()}\n")
        self.stream.flush()

    def _say(self, text: str) -> None:
        if self.stream is not None:
            self.close()
            self.stream.write(text + "\n")
            self.stream.flush()


def duration(seconds: float) -> str:
    """Write a duration as people say it.

    >>> duration(42), duration(260), duration(9000)
    ('42 s', '4 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _kind(spec: Spec) -> str:
    return f"{spec.problem} {spec.method} {spec.p_solve} {spec.epochs}"
