"""Which options of an engine are fastest on a model: a short trial that is reported and not applied.

A choice by the clock may change which of several optimal solutions is returned, and so the numbers of a run. The probe
therefore only reports what it measured; the user passes the fastest options to the problem.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regretless.errors import InputError, SolveError
from regretless.milp import MILP
from regretless.solvers.checked_engine import make_engine

Options = Mapping[str, Any]

# Options that were faster on one or another of the paper's problems; the other engines are tried as they are.
CANDIDATES: dict[str, tuple[Options, ...]] = {
    "highs": ({}, {"presolve": "off"}, {"mip_heuristic_effort": 0.0}, {"presolve": "off", "mip_heuristic_effort": 0.0}),
    "gurobi": ({}, {"Presolve": 0}, {"Heuristics": 0.0}),
}


@dataclass(frozen=True)
class Trial:
    """One set of options: mean and largest CPU seconds of a solve."""

    options: Options
    mean_seconds: float
    largest_seconds: float


def probe(
    milp: MILP, costs: ArrayLike, *, engine: str = "highs", candidates: Sequence[Options] | None = None
) -> list[Trial]:
    """Solve a few cost vectors with each set of options, and return the trials, the fastest first.

    Args:
        milp: the model.
        costs: ``(m, width)`` minimizing costs, about five to ten typical ones.
        engine: name in the table of engines.
        candidates: sets of options; by default those that were faster on some model.

    Raises:
        SolveError: a set of options gives another optimal value than the first one, which is a fault of the engine.

    >>> trials = probe(MILP([[3.0, 4.0, 5.0]], row_upper=7.0), [[-4.0, -5.0, -6.0]])
    >>> len(trials)
    4
    """
    objectives = milp.objective(np.atleast_2d(np.asarray(costs, dtype=np.float64)))
    chosen = CANDIDATES.get(engine, ({},)) if candidates is None else tuple(candidates)
    if not chosen or not len(objectives):
        raise InputError("a probe needs at least one cost vector and one set of options")
    trials, reference = [], None
    for options in chosen:
        solver = make_engine(engine, milp, **options)
        solver.solve(objectives[0])  # the first solve also builds the model
        values, seconds = [], []
        for objective in objectives:
            start = time.process_time()
            outcome = solver.solve(objective)
            seconds.append(time.process_time() - start)
            if outcome.x is None:
                raise SolveError(f"no solution in the probe with {dict(options)}: {outcome.status}. {outcome.message}")
            values.append(float(objective @ outcome.x))
        if reference is None:
            reference = np.asarray(values)
        elif not np.allclose(values, reference, rtol=1e-6, atol=1e-9):
            raise SolveError(f"{engine} with {dict(options)} finds other optimal values than with {dict(chosen[0])}")
        trials.append(Trial(options, float(np.mean(seconds)), max(seconds)))
    return sorted(trials, key=lambda trial: trial.mean_seconds)
