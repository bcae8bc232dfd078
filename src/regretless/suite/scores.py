"""Figures of a method: in one cell, and over all cells."""

from __future__ import annotations

from dataclasses import dataclass

# Regrets, in percent of the objective, that differ by less count as equal: ratios of rounding errors say nothing.
LEAST = 1e-4


@dataclass(frozen=True)
class CellScore:
    """A method in one cell, as means over the seeds.

    Attributes:
        cell: name of the cell.
        method: name of the method.
        seeds: number of runs.
        regret: on test data, in percent of the objective.
        deviation: its sample deviation; ``None`` for a single run.
        solves: exact solves of training and search.
        seconds: of training and search.
    """

    cell: str
    method: str
    seeds: int
    regret: float
    deviation: float | None
    solves: float
    seconds: float


@dataclass(frozen=True)
class MethodScore:
    """A method over all cells that every method has.

    Attributes:
        method: name.
        ratio: geometric mean of its regret over that of two-stage.
        worst: largest of these ratios.
        rank: mean rank among the methods; 1 is the best.
        wins: cells in which no other method has less regret.
        solves, seconds: means over the cells.
    """

    method: str
    ratio: float
    worst: float
    rank: float
    wins: int
    solves: float
    seconds: float
