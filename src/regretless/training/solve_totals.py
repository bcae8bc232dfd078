"""Running totals of exact solves and look-ups, from which the rows of a history are differences."""

from __future__ import annotations

from regretless.cache import SolutionCache
from regretless.oracle import Oracle
from regretless.problem import Problem

COUNTED = ("solver_seconds", "solves", "not_optimal", "failed", "lookups")


def totals(oracle: Oracle | None) -> dict[str, float]:
    """What an oracle has counted so far, by column of the history; of all ranks where they share a cache."""
    if oracle is None:
        return dict.fromkeys(COUNTED, 0)
    used, lookups = oracle.problem.statistics, 0
    if isinstance(oracle, SolutionCache):
        oracle.synchronize()
        lookups = oracle.statistics.lookups
    return dict(zip(COUNTED, (used.seconds, used.solves, used.not_optimal, used.failed, lookups), strict=True))


def watched(problem: Problem | None) -> tuple[int, float]:
    """Solves and seconds so far for the regrets of single epochs."""
    count = None if problem is None else problem.statistics.by_purpose.get("watching")
    return (0, 0.0) if count is None else (count.solves, count.seconds)
