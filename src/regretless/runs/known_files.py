"""What a run found, kept in its folder: decisions for a decider, and the solutions of its cache for another run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from regretless.cache import cache_files
from regretless.errors import FileError, InputError
from regretless.milp import MILP, Floats
from regretless.problem import Problem
from regretless.runs.run_folder import CACHE
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


def cached_solutions(folder: Path | str, problem: Problem) -> tuple[Tensor, Tensor | None] | None:
    """Solutions in the cache of a run, and for families an instance that each of them serves.

    Raises:
        FileError: the file is damaged, or of another problem.
    """
    path = Path(folder) / CACHE
    if not path.is_file():
        return None
    state = cache_files.load(path)
    try:
        rows, serves = state["store"]["rows"], state["store"].get("serves")
        same = cache_files.fingerprint_at(state, problem)
        if state["fingerprint"] != same or rows.shape[1] != problem.width:
            raise InputError("it belongs to another problem")
    except (KeyError, TypeError, AttributeError, IndexError, InputError) as error:
        raise FileError(f"{path} cannot be used: {error}") from error
    if serves is None:
        return rows, None
    used = serves.any(dim=0)
    return rows[used], serves[:, used].to(torch.uint8).argmax(dim=0)
