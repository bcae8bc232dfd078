"""What a cache counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class CacheStatistics:
    """What the cache did so far.

    Attributes:
        solves: exact solves asked of the problem.
        failed: solves that gave no solution.
        lookups: queries answered from S.
        added: solves whose solution was new.
        hits: solves whose solution was in S already.
        seconds: time spent in look-ups and insertions.
        asked: instances that the policy decided on.
        gaps, gap_sum, gap_max: certified gaps that it saw since the last report: count, sum and largest.
    """

    solves: int = 0
    failed: int = 0
    lookups: int = 0
    added: int = 0
    hits: int = 0
    seconds: float = 0.0
    asked: int = 0
    gaps: int = 0
    gap_sum: float = 0.0
    gap_max: float = 0.0
