"""The order in which problems and methods appear: as the paper lists them, then by name."""

from __future__ import annotations

import re

from regretless.report.report_data import Run

METHODS = (
    "two-stage", "spo", "spo-relax", "spo-cache", "blackbox", "blackbox-cache", "qptl", "interior",
    "nce-c", "nce-dc", "nce-2c", "map-c", "map-dc", "map-2c",
)  # fmt: skip
PROBLEMS = ("synthetic", "knapsack", "energy", "matching")


def method_order(name: str) -> tuple[int, str]:
    """Sort key of a method."""
    return (METHODS.index(name) if name in METHODS else len(METHODS), name)


def natural_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key of a name in which ``knapsack-60`` comes before ``knapsack-120``."""
    # Longer strings of digits are split: no name needs the value of a number with thousands of digits.
    parts = re.split(r"(\d{1,15})", name)
    return tuple((1, int(part), "") if part.isdecimal() and part.isascii() else (0, 0, part) for part in parts)


def run_order(run: Run) -> tuple[object, ...]:
    """Sort key of a run: problem, method, seed."""
    seed = run.spec.get("seed")
    family = run.problem.split("-")[0]
    known = PROBLEMS.index(family) if family in PROBLEMS else len(PROBLEMS)
    seed = seed if isinstance(seed, int) else -1
    return (known, natural_order(run.problem), method_order(run.method), seed, run.name)
