"""The solves of a run by purpose, for its figures and for the command line."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, get_args

from regretless.problem import Problem
from regretless.solvers.ledger import Purpose
from regretless.training import History

# Columns of a history that count solves, with their seconds.
COLUMNS = {"growth": ("solves", "solver_seconds"), "watching": ("watching_solves", "watching_seconds")}
Ledger = dict[str, dict[str, float]]


def solve_ledger(problem: Problem, *, since: Ledger | None = None, history: History | None = None) -> Ledger:
    """Return ``{"labels": {"solves": n, "seconds": s}, ...}`` for every purpose.

    Labels are the true optima, growth the solves of training, watching the regrets of single epochs, scoring the
    comparison of candidates in a search, evaluation the figures at the end, and decisions the use of a trained model.

    Args:
        problem: it counts its solves by purpose, from its construction on.
        since: an earlier ledger of the same problem, to subtract. Labels stay: solved once, they serve every run.
        history: of a training that may have been interrupted: only the history has the epochs of an earlier process.
    """
    found: Ledger = {purpose: {"solves": 0, "seconds": 0.0} for purpose in get_args(Purpose)}
    for purpose, count in problem.statistics.by_purpose.items():
        before = {} if since is None or purpose == "labels" else since[purpose]
        found[purpose]["solves"] = count.solves - before.get("solves", 0)
        found[purpose]["seconds"] = count.seconds - before.get("seconds", 0.0)
    history = history or History()
    for purpose, (solves, seconds) in COLUMNS.items():
        kept = {"solves": int(history.total(solves)), "seconds": history.total(seconds)}
        if kept["solves"] > found[purpose]["solves"]:
            found[purpose] = kept
    return found


def grid_ledger(runs: Iterable[tuple[str, Any]]) -> Ledger:
    """Add up the ledgers of many runs, given with the problem that each belongs to.

    Labels are solved once per problem and stand in the ledger of each of its runs: they count once.

    >>> one = {"labels": {"solves": 9, "seconds": 1.0}, "growth": {"solves": 2, "seconds": 0.5}}
    >>> ledger_line(grid_ledger([("a", one), ("a", one)]))
    'solves: labels 9 (1.0 s), growth 4 (1.0 s)'
    """
    total: Ledger = {purpose: {"solves": 0, "seconds": 0.0} for purpose in get_args(Purpose)}
    labels: Ledger = {}
    for problem, ledger in runs:
        for purpose, sums in total.items():
            count = read_count(ledger, purpose)
            if purpose == "labels":
                labels[problem] = max(labels.get(problem, count), count, key=lambda one: one["solves"])
            else:
                sums |= {name: sums[name] + count[name] for name in sums}
    total["labels"] = {name: sum(count[name] for count in labels.values()) for name in ("solves", "seconds")}
    return total


def read_count(ledger: Any, purpose: str) -> dict[str, float]:
    """Solves and seconds of a purpose in a ledger that was read from a file; zeros where it has none."""
    count = ledger.get(purpose) if isinstance(ledger, dict) else None
    found = count if isinstance(count, dict) else {}
    numbers = {name: found.get(name) for name in ("solves", "seconds")}
    return {name: n if isinstance(n, int | float) and math.isfinite(n) else 0 for name, n in numbers.items()}


def ledger_line(solves: Ledger) -> str:
    """Write a ledger as one line, in the order of the purposes, without those that had no solve.

    >>> ledger_line({"labels": {"solves": 1200, "seconds": 3.25}, "growth": {"solves": 0, "seconds": 0.0}})
    'solves: labels 1,200 (3.2 s)'
    """
    # Not in the order of the ledger: files have their keys sorted.
    made = [(purpose, solves[purpose]) for purpose in get_args(Purpose) if purpose in solves]
    parts = [f"{purpose} {count['solves']:,} ({count['seconds']:.1f} s)" for purpose, count in made if count["solves"]]
    return f"solves: {', '.join(parts) or 'none'}"
