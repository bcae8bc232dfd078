"""Regret of each policy against the share of instances that it solved, for a table and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regretless.paper.grid import Grid
from regretless.runs.results import Result, mean_and_deviation, of_one_init, select

POLICIES = ("coin", "largest-gap")


class Point(NamedTuple):
    """Share of instances solved, mean test regret, its deviation over the seeds, their number, and the budget."""

    share: float
    regret: float
    deviation: float
    seeds: int
    p_solve: float


def has_policies(grid: Grid) -> bool:
    """Whether a grid compares policies."""
    return any("policy" in sweep for sweep in grid.sweeps)


def policy_points(grid: Grid, problem: str, found: Sequence[Result]) -> dict[str, list[Point]]:
    """Return the points of every policy that has runs, by the share solved."""
    lines = {policy: sorted(_points(grid, problem, policy, found)) for policy in POLICIES}
    return {policy: points for policy, points in lines.items() if points}


def _points(grid: Grid, problem: str, policy: str, found: Sequence[Result]) -> list[Point]:
    method = next(iter(grid.methods))
    words = {} if policy == "coin" else {"policy": policy}
    shares = {p for sweep in grid.sweeps if sweep.get("policy", "coin") == policy for p in sweep["p_solve"]}
    if policy == "coin":
        shares.add(float(grid.methods[method]["p_solve"]))
    points = []
    for p_solve in shares:
        spec = grid.spec(problem, method, settings={"p_solve": p_solve} | words)
        runs = of_one_init(select(found, spec))
        if runs:
            solved = sum(run.figures["solves"] for run in runs) / max(1, sum(run.figures["lookups"] for run in runs))
            points.append(Point(solved, *mean_and_deviation(runs, "regret"), len(runs), p_solve))
    return points
