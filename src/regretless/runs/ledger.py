"""The ledger of solves: how many exact solves were made for which purpose, in how many seconds."""

from __future__ import annotations

from regretless.problem import Problem
from regretless.training import History

# Labels are the true optima, growth the solves of training, watching the regrets of single epochs, which stop training
# or go to the history, and evaluation the figures at the end.
PURPOSES = ("labels", "growth", "watching", "evaluation")
# Columns of a history that count solves.
COLUMNS = {"growth": ("solves", "solver_seconds"), "watching": ("watching_solves", "watching_seconds")}
Ledger = dict[str, dict[str, float]]


def ledger(problem: Problem, *, since: Ledger | None = None, history: History | None = None) -> Ledger:
    """Return ``{"labels": {"solves": n, "seconds": s}, ...}``, in the order of ``PURPOSES``.

    Args:
        problem: it counts its solves by purpose, from its construction on.
        since: an earlier ledger of the same problem, to subtract. Labels stay: solved once, they serve every run.
        history: of a training that may have been interrupted: only the history has the epochs of an earlier process.
    """
    found = _counted(problem)
    for purpose, before in (since or {}).items():
        if purpose != "labels":
            found[purpose] = {name: value - before[name] for name, value in found[purpose].items()}
    history = history or History()
    for purpose, (solves, seconds) in COLUMNS.items():
        kept = {"solves": int(history.total(solves)), "seconds": history.total(seconds)}
        if kept["solves"] > found.get(purpose, {"solves": 0})["solves"]:
            found[purpose] = kept
    return {purpose: found[purpose] for purpose in PURPOSES if purpose in found}


def _counted(problem: Problem) -> Ledger:
    by_purpose = getattr(problem.statistics, "by_purpose", None)
    if by_purpose is None:
        return {}
    zero = {purpose: {"solves": 0, "seconds": 0.0} for purpose in PURPOSES}
    return zero | {name: {"solves": one.solves, "seconds": one.seconds} for name, one in by_purpose.items()}


def ledger_line(solves: Ledger) -> str:
    """Write a ledger as one line.

    >>> ledger_line({"labels": {"solves": 1200, "seconds": 3.25}, "growth": {"solves": 0, "seconds": 0.0}})
    'exact solves: labels 1,200 (3.2 s), growth 0'
    """
    parts = [
        f"{purpose} {count['solves']:,}" + (f" ({count['seconds']:.1f} s)" if count["solves"] else "")
        for purpose, count in solves.items()
    ]
    return f"exact solves: {', '.join(parts)}"
