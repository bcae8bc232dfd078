"""The decisions that a run found, kept in its folder: a decider falls back on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from regretless.errors import FileError
from regretless.milp import MILP, Floats
from regretless.solvers.found_decisions import FoundDecisions
from regretless.storage import load_state, save_state
from regretless.tables.saved_problem import load_saved_problem

FILE, KIND = "decisions.safetensors", "decisions"


def write_known(folder: Path | str, found: FoundDecisions) -> None:
    """Write the decisions of a run."""
    save_state(Path(folder) / FILE, {"decisions": torch.from_numpy(found.rows.copy())}, kind=KIND)


def read_known(folder: Path | str, n: int) -> Floats | None:
    """Read the decisions ``(m, n)`` of a run; ``None`` where the run has kept none.

    Raises:
        FileError: the file is damaged, or of another model.
    """
    path = Path(folder) / FILE
    if not path.is_file():
        return None
    state = load_state(path, kind=KIND)
    rows = state.get("decisions") if isinstance(state, dict) else None
    if not isinstance(rows, torch.Tensor) or rows.ndim != 2 or rows.shape[1] != n:
        raise FileError(f"{path}: field 'decisions' must have {n} columns, as the model has variables")
    values: Floats = rows.to(torch.float64).numpy()
    return values


def known_for(folder: Path | str, milp: MILP) -> Floats | None:
    """Read the decisions of a run on a model file for a model that may have other variables.

    Values are taken by the names of the variables. A variable that the run does not have gets the value nearest to 0;
    whether such a decision is feasible is checked where it is used.
    """
    own = load_saved_problem(folder).milp
    known = read_known(folder, own.n)
    if known is None or own.names == milp.names:
        return known
    place = {name: j for j, name in enumerate(own.names or ())}
    rows: Floats = np.tile(np.clip(0.0, milp.lower, milp.upper), (len(known), 1))
    for j, name in enumerate(milp.names or ()):
        if name in place:
            rows[:, j] = known[:, place[name]]
    return rows


def found_before(folder: Path | str, n: int) -> FoundDecisions:
    """The decisions of a run, to which those of a later run are added."""
    found, known = FoundDecisions(n), read_known(folder, n)
    if known is not None:
        found.add(known)
    return found
