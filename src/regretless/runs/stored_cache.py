"""The cache of a finished run, as first solutions of another one."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from regretless.cache import cache_files
from regretless.errors import FileError, InputError
from regretless.problem import Problem
from regretless.runs.run_folder import CACHE


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
