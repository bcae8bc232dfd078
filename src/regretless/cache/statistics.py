"""Counters of a cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regretless.milp import Floats


@dataclass
class CacheStatistics:
    """Counters since the cache was built.

    Attributes:
        solves: exact solves.
        failed: solves that gave no solution.
        lookups: queries answered from S.
        added: solves whose solution was new.
        hits: solves whose solution was in S already.
        seconds: time spent in look-ups and insertions.
        asked: instances that the policy decided on.
        gaps, gap_sum, gap_max: certified gaps since the last report: number, sum and largest.
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

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace the counters by those of ``dataclasses.asdict``; an unknown one is refused."""
        self.__init__(**state)  # type: ignore[misc]

    def add_gaps(self, gaps: Floats) -> None:
        """Count certified gaps ``(batch,)``."""
        self.gaps, self.gap_sum = self.gaps + len(gaps), self.gap_sum + float(gaps.sum())
        self.gap_max = max(self.gap_max, float(gaps.max(initial=0.0)))

    def report(self) -> dict[str, float]:
        """Mean and largest gap since the last report; empty where there is none."""
        if not self.gaps:
            return {}
        report = {"mean_gap": self.gap_sum / self.gaps, "largest_gap": self.gap_max}
        self.gaps, self.gap_sum, self.gap_max = 0, 0.0, 0.0
        return report
