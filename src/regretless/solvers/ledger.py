"""How many exact solves were made, for which purpose, and how they ended."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, get_args

from regretless.errors import InputError
from regretless.types import Solved, Status

Purpose = Literal["labels", "growth", "watching", "scoring", "evaluation", "decisions"]
DEFAULT: Purpose = "growth"
_purpose: ContextVar[Purpose | None] = ContextVar("purpose of exact solves", default=None)
_lock = threading.Lock()  # one for all: it is held for less than a microsecond, and statistics stay picklable


@dataclass
class PurposeCount:
    """Solves and seconds of one purpose."""

    solves: int = 0
    seconds: float = 0.0


@dataclass
class SolveStatistics:
    """Running totals of a problem's exact solves.

    Attributes:
        solves: all of them, whatever they were for.
        seconds: wall time in the solver.
        not_optimal: solves that did not end optimal.
        failed: those of them that have no solution.
        by_status: the solves that did not end optimal, by status.
        by_purpose: all solves, by what they were for; the parts add up to ``solves`` and ``seconds``.
    """

    solves: int = 0
    seconds: float = 0.0
    not_optimal: int = 0
    failed: int = 0
    by_status: Counter[str] = field(default_factory=Counter)
    by_purpose: dict[str, PurposeCount] = field(default_factory=dict)

    def count(self, purpose: Purpose) -> int:
        """Number of solves of one purpose."""
        part = self.by_purpose.get(purpose)
        return 0 if part is None else part.solves

    def add(self, solved: Solved, seconds: float) -> None:
        """Count a batch of solves for the current purpose; threads may do so at the same time."""
        count, bad = solved.solution.shape[0], solved.not_optimal
        failed = int((~solved.found).sum()) if bad else 0
        purpose = _purpose.get() or DEFAULT
        with _lock:
            if (part := self.by_purpose.get(purpose)) is None:
                part = self.by_purpose[purpose] = PurposeCount()
            part.solves += count
            part.seconds += seconds
            self.solves += count
            self.seconds += seconds
            if bad:
                self.not_optimal += bad
                self.failed += failed
                self.by_status.update(str(status) for status in solved.statuses if status is not Status.OPTIMAL)


@contextmanager
def counted_as(purpose: Purpose, *, unless_set: bool = False) -> Iterator[None]:
    """Count the exact solves of this thread, inside of the ``with`` block, for ``purpose``.

    Args:
        purpose: ``"labels"``, ``"growth"`` (the default outside of any block), ``"watching"``, ``"scoring"``,
            ``"evaluation"`` or ``"decisions"``.
        unless_set: leave the purpose of an outer block as it is.
    """
    if purpose not in get_args(Purpose):
        raise InputError(f"purpose must be one of {', '.join(get_args(Purpose))}, got {purpose!r}")
    token = _purpose.set((_purpose.get() if unless_set else None) or purpose)
    try:
        yield
    finally:
        _purpose.reset(token)
