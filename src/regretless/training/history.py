"""The history of a training: one row per epoch, of which some columns are differences of running totals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from regretless.cache import SolutionCache
from regretless.oracle import Oracle
from regretless.problem import Problem
from regretless.storage import csv_text

Row = dict[str, Any]

COLUMNS = (
    "epoch", "loss", "regret", "seconds", "solver_seconds", "solves", "not_optimal", "failed",
    "lookups", "cache_size",
)  # fmt: skip
COUNTED = ("solver_seconds", "solves", "not_optimal", "failed", "lookups")


class History:
    """A list of rows, one per epoch, with the columns of ``COLUMNS`` and those that callbacks add.

    Of the ``solves`` in an epoch, ``not_optimal`` were not proven optimal; ``failed`` of these gave no solution.

    >>> history = History()
    >>> history.append({"epoch": 1, "loss": 0.5, "test_regret": 3.0})
    >>> history.column("test_regret")
    [3.0]
    >>> history
    History(1 epoch, the last with loss=0.5, test_regret=3)
    """

    def __init__(self, rows: list[Row] | None = None) -> None:
        self.rows: list[Row] = list(rows or [])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def __repr__(self) -> str:
        """Number of epochs and the values of the last one."""
        if not self.rows:
            return "History(no epochs)"
        last = {name: self.rows[-1].get(name) for name in self.columns if name != "epoch"}
        values = [f"{name}={_short(value)}" for name, value in last.items() if value is not None]
        return f"History({len(self)} epoch{'s' if len(self) > 1 else ''}, the last with {', '.join(values)})"

    def append(self, row: Row) -> None:
        """Add the row of an epoch."""
        self.rows.append(row)

    def column(self, name: str) -> list[Any]:
        """Values of one column; ``None`` where a row does not have it."""
        return [row.get(name) for row in self.rows]

    def total(self, name: str) -> float:
        """Sum of a column over the epochs that have it."""
        return float(sum(value for value in self.column(name) if value is not None))

    @property
    def columns(self) -> list[str]:
        """All columns, the fixed ones first."""
        more = dict.fromkeys(name for row in self.rows for name in row if name not in COLUMNS)
        return [*COLUMNS, *more]

    def to_csv(self) -> str:
        """The history as CSV text."""
        return csv_text(self.columns, self.rows)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


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
