"""Rows of measurements -> medians, ratios and their targets. Nothing is measured here.

A ratio is the median of the ratios within each repeat. The machine is fast or slow for minutes, and both sides of a
repeat share that; the median of each side may be from another repeat.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cells import METHODS, SHARES, TITLES

Row = dict[str, Any]
# (side, solver or policy, loop: see ``cells.Job``)
Side = tuple[str, str, str]
OURS: Side = ("ours", "", "fit")
OWN_STEPS: Side = ("ours", "", "steps")
OWN_LOOP: Side = ("ours", "", "backward")
TORCH_LOOP: Side = ("ours", "", "torch")
BATCH_COIN: Side = ("ours", "batch-coin", "fit")
OWN_STEPS_BATCH_COIN: Side = ("ours", "batch-coin", "steps")
OWN_LOOP_BATCH_COIN: Side = ("ours", "batch-coin", "backward")
ORTOOLS: Side = ("pyepo", "ortools", "loader")
GUROBI: Side = ("pyepo", "gurobi", "loader")
SLICED: tuple[Side, ...] = (("pyepo", "ortools", "sliced"), ("pyepo", "gurobi", "sliced"))
SIDES: dict[Side, str] = {
    OURS: "regretless",
    OWN_STEPS: "regretless, own training loop with make_step",
    OWN_LOOP: "regretless, own training loop with LeanAdam",
    TORCH_LOOP: "regretless, own training loop with torch's Adam",
    BATCH_COIN: "regretless, one coin per batch",
    OWN_STEPS_BATCH_COIN: "regretless, own training loop with make_step, one coin per batch",
    OWN_LOOP_BATCH_COIN: "regretless, own training loop with LeanAdam, one coin per batch",
    ORTOOLS: "PyEPO, OR-Tools",
    GUROBI: "PyEPO, Gurobi",
    SLICED[0]: "PyEPO, OR-Tools, batches sliced by hand",
    SLICED[1]: "PyEPO, Gurobi, batches sliced by hand",
}
NAMES: dict[Side, str] = {side: name.removeprefix(SIDES[OURS]) for side, name in SIDES.items() if side[0] == "ours"}


@dataclass(frozen=True)
class Ratio:
    """How many times faster regretless is, and the target (``None``: reported only).

    Of one cell, ``sides`` says what is compared, at which share of solves, and ``method`` is its column.
    """

    what: str
    cpu: float
    wall: float
    target: float | None
    sides: str = ""
    method: str = ""


def median(rows: Sequence[Row], figure: str, **where: Any) -> float | None:
    """Median of a figure over the rows that match; ``None`` where there are none or they have no such figure."""
    known = [row[figure] for row in _matching(rows, where) if row.get(figure) is not None]
    return statistics.median(known) if known else None


def faster(rows: Sequence[Row], figure: str, mine: Row, other: Row) -> float | None:
    """Median over the repeats of the other side's figure over ours; ``None`` where no repeat has both.

    Args:
        rows: measurements.
        figure: a time.
        mine, other: the fields that identify the rows of either side.
    """
    ours, theirs = ({row["repeat"]: row[figure] for row in _matching(rows, side)} for side in (mine, other))
    both = [theirs[repeat] / ours[repeat] for repeat in ours.keys() & theirs.keys()]
    return statistics.median(both) if both else None


def _matching(rows: Sequence[Row], where: Row) -> list[Row]:
    return [row for row in rows if all(row.get(key) == value for key, value in where.items())]


def of_side(side: Side) -> dict[str, Any]:
    """The fields that identify the rows of a side."""
    return dict(zip(("side", "backend", "loop"), side, strict=True))


def target(mine: Side, side: Side, method: str, p_solve: float) -> float | None:
    """Smallest speed-up of one of our sides over a side that counts as met."""
    if side in SLICED or mine == TORCH_LOOP:  # most of which is not ours
        return None
    if mine not in (OURS, BATCH_COIN):
        return 3.0 if side == ORTOOLS else None
    if p_solve < 1.0:
        return 2.5
    if side == ORTOOLS:
        return 15.0
    return 3.0 if method == "spo" else 8.0


def ratios(rows: Sequence[Row], problem: str) -> list[Ratio]:
    """Seconds per epoch of every other side over ours, in every cell that was measured."""
    found = []
    peers = [side for side in SIDES if side[0] != "ours"]
    for p_solve, mine, side, method in itertools.product(SHARES, NAMES, peers, METHODS):
        cell = {"problem": problem, "method": method, "p_solve": p_solve}
        own, other = cell | of_side(mine), cell | of_side(side)
        cpu, wall = (faster(rows, kind, own, other) for kind in ("cpu", "wall"))
        if cpu is None or wall is None:
            continue
        what = f"{problem}, {TITLES[method]} at {p_solve:.0%}, {SIDES[side]} over ours{NAMES[mine]}"
        sides = f"{p_solve:.0%}: {SIDES[side]} over {SIDES[mine]}"
        found.append(Ratio(what, cpu, wall, target(mine, side, method, p_solve), sides, method))
    return found + [mean for mine in (OURS, BATCH_COIN) for mean in _mean(found, problem, mine)]


def _mean(found: Sequence[Ratio], problem: str, mine: Side) -> list[Ratio]:
    """Geometric mean over the methods of what ``fit`` gains over PyEPO with OR-Tools where few instances are solved."""
    where = f"at {min(SHARES):.0%}, {SIDES[ORTOOLS]} over ours{NAMES[mine]}"
    wanted = [f"{problem}, {TITLES[method]} {where}" for method in METHODS]
    cells = [ratio for ratio in found if ratio.what in wanted]
    if len(cells) < len(METHODS):
        return []
    cpu, wall = (statistics.geometric_mean(getattr(ratio, kind) for ratio in cells) for kind in ("cpu", "wall"))
    return [Ratio(f"{problem}, geometric mean {where}", cpu, wall, 4.0)]


def scale_ratios(rows: Sequence[Row]) -> list[Ratio]:
    """Seconds of PyEPO over ours on the large cache."""
    found = []
    for figure, what, least in (
        ("insert", "insertion of 32 solutions into 50,000 x 500", 1000.0),
        ("nce", "NCE with its gradient on this cache", 100.0),
    ):
        own, other = ({"problem": "scale", "side": side} for side in ("ours", "pyepo"))
        cpu, wall = (faster(rows, f"{figure}_{kind}", own, other) for kind in ("cpu", "wall"))
        if cpu is None or wall is None:
            continue
        found.append(Ratio(f"{what}, PyEPO over ours", cpu, wall, least))
    return found
