"""The decisions that a run found, kept in its folder: a decider falls back on them."""

from __future__ import annotations

from pathlib import Path

import torch

from regretless.errors import FileError
from regretless.milp import Floats
from regretless.solvers.found_decisions import FoundDecisions
from regretless.storage import load_state, save_state

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


def found_before(folder: Path | str, n: int) -> FoundDecisions:
    """The decisions of a run, to which those of a later run are added."""
    found, known = FoundDecisions(n), read_known(folder, n)
    if known is not None:
        found.add(known)
    return found
