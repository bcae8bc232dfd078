"""The labeled data of a run on a model file, saved in its folder: to evaluate again, and to go on from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from regretless.benchmark_problem import BenchmarkProblem
from regretless.data import Dataset
from regretless.errors import FileError, InputError
from regretless.family import Family
from regretless.storage import MALFORMED, load_state, save_state
from regretless.tables.saved_problem import load_saved_problem
from regretless.tables.user_problem import assembled, digest
from regretless.types import Status

FILE, KIND = "data.safetensors", "data"
PARTS = ("train", "validation", "test")


def save_data(folder: Path | str, loaded: BenchmarkProblem) -> None:
    """Write all parts of the data with their labels, and the members of a family."""
    held_out = loaded.test if loaded.evaluated_on == "test" else None
    parts = zip(PARTS, (loaded.train, loaded.validation, held_out), strict=True)
    family = loaded.problem.model if isinstance(loaded.problem.model, Family) else None
    varied = None if family is None else {part: torch.as_tensor(v) for part, v in family.variations().items()}
    state = {name: None if part is None else _state(part) for name, part in parts}
    save_state(Path(folder) / FILE, state | {"variations": varied}, kind=KIND)


def has_saved_data(folder: Path | str) -> bool:
    """Whether a run has its data."""
    return (Path(folder) / FILE).is_file()


def refuse_other_files(folder: Path | str, given: Mapping[str, Any]) -> None:
    """Refuse to read the data of a run from its original files where these are others than in training.

    Args:
        folder: of a run on a model file without its data: of version 0.1, or one whose data was removed.
        given: the original files, by role as in ``SavedProblem.files``.

    Raises:
        FileError: a file is missing or has changed.
    """
    for role, known in (load_saved_problem(folder).files or {}).items():
        path = given.get(role)
        if path is None or digest(path) != known:
            what = f"the {role} of training are" if role != "model" else "the model of training is"
            raise FileError(
                f"{folder} has no {FILE}, and {what} not in {path}: restore one of them, or give --features and --costs"
            )


def load_saved_data(folder: Path | str, *, workers: int | None = 1, executor: str = "threads") -> BenchmarkProblem:
    """Read problem and data of a run; nothing is solved.

    Raises:
        FileError: a file is missing, damaged or foreign.
    """
    path = Path(folder) / FILE
    kept, state = load_saved_problem(folder), load_state(path, kind=KIND)
    try:
        parts = [None if state[name] is None else _part(state[name]) for name in PARTS]
        varied = state["variations"]
        problem = kept.problem(workers=workers, executor=executor)
        problem.name = Path(folder).name
        if varied is not None:
            problem.family.add(**{part: values.numpy() for part, values in varied.items()})
        for part in parts:
            if part is not None:
                problem.check_instance(part.instance, len(part))
        if parts[0] is None:
            raise ValueError("no training data")
        return assembled(problem.name, kept, problem, (parts[0], parts[1], parts[2]))
    except MALFORMED as error:
        raise FileError(f"{path}: field 'state' holds no data: {error}") from error


def joined(parts: list[Dataset]) -> Dataset:
    """All rows of several parts, in order; with their names where all of them have some."""
    status = None
    if any(part.status is not None for part in parts):
        status = tuple(s for part in parts for s in part.status or (Status.OPTIMAL,) * len(part))
    names = None
    if all(part.names is not None for part in parts):
        names = tuple(name for part in parts for name in part.names or ())
    ids = [part.instance for part in parts if part.instance is not None]
    if len({part.features.shape[1:] for part in parts}) > 1 or len(ids) not in (0, len(parts)):
        raise InputError("parts of one data set need features of one shape, and all or none ids of instances")
    return Dataset(
        torch.cat([part.features for part in parts]),
        torch.cat([part.costs for part in parts]),
        torch.cat([part.solutions for part in parts]),
        torch.cat(ids) if ids else None,
        status,
        names,
    )


def _state(part: Dataset) -> dict[str, Any]:
    status = None if part.status is None else [str(s) for s in part.status]
    tensors = {"features": part.features, "costs": part.costs, "solutions": part.solutions, "instance": part.instance}
    return tensors | {"status": status, "names": None if part.names is None else list(part.names)}


def _part(state: dict[str, Any]) -> Dataset:
    status, names = state["status"], state.get("names")  # files of older versions have no names
    return Dataset(
        features=state["features"],
        costs=state["costs"],
        solutions=state["solutions"],
        instance=state["instance"],
        status=None if status is None else tuple(Status(s) for s in status),
        names=None if names is None else tuple(names),
    )
