"""The solves of a run by purpose, for its figures and for the command line."""

from __future__ import annotations

from typing import get_args

from regretless.problem import Problem
from regretless.solvers.ledger import Purpose
from regretless.training import History

# Columns of a history that count solves, with their seconds.
COLUMNS = {"growth": ("solves", "solver_seconds"), "watching": ("watching_solves", "watching_seconds")}
Ledger = dict[str, dict[str, float]]


def solve_ledger(problem: Problem, *, since: Ledger | None = None, history: History | None = None) -> Ledger:
    """Return ``{"labels": {"solves": n, "seconds": s}, ...}`` for every purpose.

    Labels are the true optima, growth the solves of training, watching the regrets of single epochs, scoring the
    comparison of candidates in a search, and evaluation the figures at the end.

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


def ledger_line(solves: Ledger) -> str:
    """Write a ledger as one line.

    >>> ledger_line({"labels": {"solves": 1200, "seconds": 3.25}, "growth": {"solves": 0, "seconds": 0.0}})
    'solves: labels 1,200 (3.2 s), growth 0'
    """
    parts = [
        f"{purpose} {count['solves']:,}" + (f" ({count['seconds']:.1f} s)" if count["solves"] else "")
        for purpose, count in solves.items()
    ]
    return f"solves: {', '.join(parts)}"
