"""The folder of a run: the files it holds and how they are read, folders that are refused, labels until it is done."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regretless.begun_solves import beside
from regretless.errors import FileError, InputError, RegretlessError
from regretless.listing import listed
from regretless.runs.spec import Spec
from regretless.search import Committee
from regretless.storage import TEMPORARY, load_state, read_json, strict, write_json
from regretless.tables import saved_problem
from regretless.training.linear_model import find_linear
from regretless.training.model_terms import missing_terms, with_terms

SPEC, CHECKPOINT, WEIGHTS, METRICS = "spec.json", "checkpoint.safetensors", "weights.safetensors", "metrics.json"
CACHE, FAILURE = "cache.safetensors", "failure.json"
MEASURED = ("regret", "relative_regret", "mse", "two_stage_regret")  # numbers, whatever happens
TWO_STAGE = "two_stage.safetensors"
# Files that a run writes before its first epoch is kept.
FIRST = (SPEC, "environment.json", saved_problem.FILE, saved_problem.ENCODING, beside(CHECKPOINT).name, ".lock")
# Files of a run that may also be a user's own, by their names.
COMMON = (
    "history.csv", METRICS, "search.json", "environment.json", saved_problem.ENCODING, "data.safetensors", WEIGHTS,
)  # fmt: skip
LABELS = "labels"
LABEL_FILES = tuple(f"{kind}-{'?' * 32}.safetensors" for kind in ("labels", "begun"))
WORTH = 5.0  # seconds of work; a command that fails sooner leaves nothing behind


def run_path(results: Path | str, spec: Spec) -> Path:
    """Return the folder of a run in a folder of results."""
    return Path(results) / "runs" / spec.digest


def has_epochs(folder: Path) -> bool:
    """Whether a folder keeps work: a checkpoint, or a finished run."""
    return any((folder / name).exists() for name in (CHECKPOINT, WEIGHTS, METRICS))


def refuse_foreign(folder: Path, *, what: str = "run", mark: str = SPEC, names: Sequence[str] = COMMON) -> None:
    """Refuse a folder that is no run and has files which a run would overwrite, such as a table ``history.csv``.

    Args:
        folder: where a command is about to write.
        what: it would write there.
        mark: pattern of the first file that it writes; where one exists, all files are its own.
        names: files and folders that it writes, and that may be a user's own.
    """
    there = [] if any(folder.glob(mark)) else [name for name in names if (folder / name).exists()]
    if there:
        raise FileError(
            f"{folder} is no {what}, and a {what} would overwrite {listed(there)} there: choose another folder"
        )


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON file that must hold an object."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise FileError(f"{path} must hold a JSON object, got {type(value).__name__}")
    return value


def read_figures(folder: Path) -> dict[str, Any]:
    """Read the figures of a finished run; those that could not be measured are NaN, which JSON does not have."""
    figures = read_object(folder / METRICS)
    return figures | {name: math.nan for name in MEASURED if name in figures and figures[name] is None}


def read_spec(folder: Path) -> Spec:
    """Read the specification of the finished run in a folder."""
    if not (folder / SPEC).is_file():
        raise FileError(f"{folder} is no run: it has no {SPEC}; make a run with: regretless train")
    if not (folder / WEIGHTS).is_file():
        raise FileError(f"{folder} is not finished: repeat its train command with --resume")
    try:
        return Spec.from_dict(read_json(folder / SPEC))
    except InputError as error:
        raise FileError(f"{folder / SPEC} is damaged: {error}") from error


def with_weights(model: nn.Module, folder: Path, name: str = WEIGHTS) -> nn.Module:
    """Put the weights of a finished run, or those of its baseline, into a model of the same kind."""
    path = folder / name
    weights = load_state(path, kind="weights")
    model = shaped_like(weights if isinstance(weights, dict) else {}, model)
    try:
        model.load_state_dict(weights)
    except (RuntimeError, TypeError, AttributeError) as error:
        raise FileError(f"{path} does not fit the model of this run: {misfit(weights, model)}") from error
    return model


def read_two_stage(blank: Callable[[], nn.Module], folder: Path) -> nn.Module | None:
    """The two-stage baseline of a run; ``None`` where it has none. ``blank`` makes a model of the run's kind."""
    return with_weights(blank(), folder, TWO_STAGE).eval() if (folder / TWO_STAGE).is_file() else None


def misfit(weights: Any, model: nn.Module) -> str:
    """Which weights differ in shape from those of a model, and how; empty where all fit."""
    if not isinstance(weights, dict):
        return f"it holds {type(weights).__name__} in place of weights"
    there, here = _shapes(weights), _shapes(model.state_dict())
    return listed(
        [
            f"{name} has shape {there.get(name, 'none')} there and {here.get(name, 'none')} here"
            for name in here | there
            if there.get(name) != here.get(name)
        ],
        most=2,
    )


def _shapes(weights: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(getattr(value, "shape", ())) for name, value in weights.items()}


def shaped_like(weights: Mapping[str, Any], model: nn.Module) -> nn.Module:
    """The model of a run in the form that a search gave it: a committee, or with terms."""
    members = {name.split(".")[1] for name in weights if name.startswith("members.")}
    if members:
        return Committee([copy.deepcopy(model) for _ in members], torch.ones(len(members)))
    view = find_linear(model)
    if view is None:
        return model
    variables = next((len(value) for name, value in weights.items() if name.endswith("intercepts")), 0)
    features = torch.zeros(1, max(variables, 1), view.plain_inputs)
    missing = missing_terms(model)
    for terms in (form for count in range(len(missing) + 1) for form in itertools.combinations(missing, count)):
        candidate = with_terms(model, features, terms)
        if candidate.state_dict().keys() == weights.keys():
            return candidate
    return model


def refuse_another(folder: Path, spec: Spec) -> None:
    """Refuse a folder with epochs of another run; a run that is not finished may be made longer."""
    if not has_epochs(folder):  # what a refused or killed command left there is not worth keeping
        return
    there, here = strict(read_object(folder / SPEC)), json.loads(json.dumps(spec.as_dict()))
    if not (folder / METRICS).exists():
        there |= {"epochs": spec.epochs}
    different = sorted(key for key in here | there if there.get(key) != here.get(key))
    if different:
        raise FileError(f"{folder} holds another run (it differs in {', '.join(different)}): choose another folder")


def failure(error: BaseException) -> dict[str, Any]:
    """The figures of a failed run."""
    known = isinstance(error, RegretlessError)
    return {"status": "failed", "error": str(error) if known else f"{type(error).__name__}: {error}"}


def keep_failure(folder: Path, spec: Spec, error: str) -> None:
    """Write why a run failed beside its specification."""
    write_json(folder / SPEC, spec.as_dict())
    write_json(folder / FAILURE, {"status": "failed", "error": error})


def missing_paths(folder: Path, names: Iterable[str]) -> list[Path]:
    """List the files ``names`` of ``folder``, and the folders above them, that do not exist: inner before outer."""
    return [path for path in (*(folder / name for name in names), folder, *folder.parents) if not path.exists()]


@contextlib.contextmanager
def removed_on_failure(new: Sequence[Path], *, unless: Callable[[], bool]) -> Iterator[None]:
    """Remove new files and folders, inner before outer, when the block fails with nothing that is worth keeping."""
    try:
        yield
    except BaseException:
        for path in () if unless() else new:
            with contextlib.suppress(OSError):  # a folder that is not empty stays
                path.rmdir() if path.is_dir() else path.unlink()
        raise


def has_labels(folder: Path) -> bool:
    """Whether a folder keeps labels of a run that is not done."""
    return any(path for pattern in LABEL_FILES for path in (folder / LABELS).glob(pattern))


@contextlib.contextmanager
def own_labels(folder: Path) -> Iterator[Path]:
    """A folder for labels within that of a run; it stays when the block fails, unless that happens at once.

    Raises:
        KeyboardInterrupt: with a message that says what was kept, where the one that came has none.
    """
    store, start, before = folder / LABELS, time.monotonic(), has_labels(folder)
    try:
        yield store
    except BaseException as error:
        if not before and (time.monotonic() - start < WORTH or not has_labels(folder)):
            remove_labels(folder)  # also an empty folder, as a full disk leaves it
        if isinstance(error, KeyboardInterrupt) and not error.args and (kept := _kept(folder)):
            raise KeyboardInterrupt(f"interrupted: {folder} keeps {kept}") from None
        raise


def _kept(folder: Path) -> str:
    """What a folder keeps, and what continues it."""
    if has_epochs(folder):
        return "the epochs trained so far, and the same command with --resume continues"
    return "the labels (true optima) solved so far, and the same command continues" if has_labels(folder) else ""


def remove_labels(folder: Path) -> None:
    """Remove the labels of a run that is done; a folder ``labels`` of the user's own stays, with all that is in it."""
    store = folder / LABELS
    with contextlib.suppress(OSError):  # a folder that is missing or not empty
        for pattern in (*LABEL_FILES, TEMPORARY):
            for path in store.glob(pattern):
                path.unlink(missing_ok=True)
        store.rmdir()
