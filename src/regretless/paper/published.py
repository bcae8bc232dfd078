"""The published values, and the tolerance within which ours count as reproduced."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

# 3 % of the published mean or 2 published deviations, whichever is wider.
SHARE = 0.03
DEVIATIONS = 2.0


@dataclass(frozen=True)
class Published:
    """A value of the paper.

    Attributes:
        mean: over its runs.
        deviation: over its runs; NaN if the paper gives none.
    """

    mean: float
    deviation: float

    @property
    def tolerance(self) -> float:
        """Largest difference that counts as reproduced."""
        wide = 0.0 if math.isnan(self.deviation) else DEVIATIONS * self.deviation
        return max(SHARE * abs(self.mean), wide)

    def agrees(self, value: float) -> bool:
        """Whether ``value`` is within the tolerance.

        >>> Published(764, 2).agrees(780), Published(764, 2).agrees(790)
        (True, False)
        """
        return abs(value - self.mean) <= self.tolerance


def published(problem: str, method: str, metric: str, sources: Sequence[str]) -> Published | None:
    """Look a value up in the tables named ``sources``; ``None`` if the paper has none."""
    for source in sources:
        value = _values().get((problem, method, metric, source))
        if value is not None:
            return value
    return None


@cache
def _values() -> dict[tuple[str, str, str, str], Published]:
    file = resources.files("regretless.paper") / "published.csv"
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return {
        (row["problem"], row["method"], row["metric"], row["source"]): Published(
            float(row["mean"]), float(row["std"]) if row["std"] else math.nan
        )
        for row in rows
    }
