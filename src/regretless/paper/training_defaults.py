"""Default training settings: the paper's for its problems, ours for the rest."""

from __future__ import annotations

from typing import Any

from regretless.paper.grid import GROUPS, load_grid
from regretless.problems.problem_table import GENERATED
from regretless.training import methods

GENERAL = {"lr": 0.1, "epochs": 20}
# One setting for every decision loss on the embedded data; two-stage takes one instance per step, and 0.1 is enough.
SYNTHETIC = {"lr": 0.5, "epochs": 20}
# The demo's problem, whose solves take most of the time.
WORKSHOP = {"lr": 0.1, "epochs": 6}
# PyEPO's notebooks, on the problems with data from its formulas.
PYEPO = {"lr": 0.01, "epochs": 20}


def training_defaults(problem: str, method: str) -> dict[str, Any]:
    """Return ``lr``, ``epochs``, ``batch_size`` and ``settings`` of a method for a problem.

    The probability of a solve is not among them: ``train`` uses the cache, while the paper's first tables always solve.

    >>> training_defaults("knapsack-60", "spo")
    {'lr': 0.7, 'epochs': 4, 'batch_size': None, 'settings': {}}
    """
    methods.method(method)
    if method == "auto":
        return {"lr": 0.1, "epochs": 0, "batch_size": None, "settings": {}}  # the search chooses
    for group in GROUPS:
        grid = load_grid(group)
        if problem in grid.problems and method in grid.methods:
            spec = grid.spec(problem, method)
            settings = {name: value for name, value in spec.settings.items() if name not in ("p_solve", "grow_at")}
            return {"lr": spec.lr, "epochs": spec.epochs, "batch_size": spec.batch_size, "settings": settings}
    own = SYNTHETIC if problem.startswith("synthetic") and method != "two-stage" else GENERAL
    own = WORKSHOP if problem == "workshop" and method != "two-stage" else own
    own = PYEPO if any(problem in row[0] for row in GENERATED) else own
    return own | {"batch_size": None, "settings": {}}
