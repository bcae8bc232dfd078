"""Training settings where the user gives none: the paper's for its problems, ours for the rest."""

from __future__ import annotations

from typing import Any

# One setting for every decision loss; two-stage takes one instance a step and needs no more than 20 epochs to converge.
SYNTHETIC = {"lr": 0.5, "epochs": 20}
TWO_STAGE = {"lr": 0.1, "epochs": 20}


def training_defaults(problem: str, method: str) -> dict[str, Any]:
    """Return ``lr``, ``epochs`` and ``settings`` of the method for a problem."""
    base = TWO_STAGE if method == "two-stage" else SYNTHETIC if problem.startswith("synthetic") else {}
    return {"lr": 0.1, "epochs": 20, "settings": {}} | base
