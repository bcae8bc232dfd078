"""One run: a folder that holds its specification, environment, history, weights and figures."""

from __future__ import annotations

import json
import platform
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regretless.data import Dataset
from regretless.errors import FileError, RegretlessError
from regretless.problems import BenchmarkProblem, load
from regretless.runs.run_lock import claim
from regretless.runs.spec import Spec
from regretless.storage import load_state, read_json, save_state, write_json, write_text
from regretless.tables import saved_problem as kept
from regretless.training import Callback, EarlyStopping, Watch, evaluate, fit, methods

PACKAGES = ("regretless", "numpy", "scipy", "torch", "highspy")


def environment() -> dict[str, str]:
    """Versions and machine, kept with every run."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return versions | {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}


def run(
    spec: Spec,
    folder: Path | str,
    *,
    loaded: BenchmarkProblem | None = None,
    workers: int = 1,
    store: Path | str | None = None,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Train and evaluate one specification, and keep everything in ``folder``.

    What is done already is returned and not done again; an interrupted run goes on from its last epoch.

    Args:
        spec: what to run.
        folder: where to keep it.
        loaded: the problem, where it is loaded already.
        workers: threads of the solver; they do not change the numbers.
        store: folder that keeps true optima.
        progress: show bars.

    Returns:
        The figures: ``status``, ``on`` (which data), ``regret``, ``relative_regret``, ``mse``, ``auc``, times
        and counts.
    """
    folder = Path(folder)
    if (folder / "metrics.json").exists():
        return finished(folder, spec)
    with claim(folder / ".lock") as mine:
        if not mine:
            raise FileError(f"another process is at work in {folder}: wait for it, or choose another folder")
        if (folder / "metrics.json").exists():  # it was done while we came
            return finished(folder, spec)
        return _run(spec, folder, loaded, workers, store, progress)


def _run(
    spec: Spec,
    folder: Path,
    loaded: BenchmarkProblem | None,
    workers: int,
    store: Path | str | None,
    progress: bool | None,
) -> dict[str, Any]:
    if (folder / "spec.json").exists():
        _refuse_another(folder, spec)
    for left in folder.glob(".checkpoint.safetensors.*.tmp"):  # by a run that was killed while it wrote
        left.unlink(missing_ok=True)
    write_json(folder / "spec.json", spec.as_dict())
    write_json(folder / "environment.json", environment())
    if loaded is None:
        loaded = load_problem(spec, workers=workers, store=store)
    if loaded.kept is not None:
        save_state(folder / kept.FILE, loaded.kept, kind=kept.KIND)
    row = methods.method(spec.method)
    model = loaded.model(0 if spec.init == "shared" else spec.seed)
    start = time.perf_counter()
    if row.search is not None:
        settings = methods.chosen(spec.method, spec.settings)
        if spec.patience:
            settings |= {"validation": _validation(spec, loaded), "patience": spec.patience}
        fitted = row.search(
            model,
            loaded.problem,
            loaded.train,
            seed=spec.seed,
            checkpoint=folder / "checkpoint.safetensors",
            progress=progress,
            **settings,
        )
    else:
        fitted = fit(
            model,
            methods.make_loss(spec.method, loaded.problem, loaded.train, seed=spec.seed, **spec.settings),
            loaded.train,
            epochs=spec.epochs,
            lr=spec.lr,
            batch_size=spec.batch_size or row.batch_size or loaded.batch_size,
            seed=spec.seed,
            callbacks=_callbacks(spec, loaded),
            checkpoint=folder / "checkpoint.safetensors",
            progress=progress,
        )
    seconds = time.perf_counter() - start
    result = evaluate(model, loaded.test, loaded.problem)
    history = fitted.history
    epochs = max(len(history), 1)
    figures = {"status": "done", "reason": fitted.reason, "epochs": len(history), "train_seconds": seconds}
    figures |= {"on": loaded.evaluated_on, **result.as_dict()}
    figures |= {"epoch_seconds": history.total("seconds") / epochs, "solver_seconds": history.total("solver_seconds")}
    figures |= {name: int(history.total(name)) for name in ("solves", "lookups")}
    figures |= {f"training_{name}": int(history.total(name)) for name in ("not_optimal", "failed")}
    figures |= {"training_labels_not_optimal": loaded.train.not_optimal}
    figures |= {"cache_size": history[-1]["cache_size"] if len(history) else None}
    save_state(folder / "weights.safetensors", dict(model.state_dict()), kind="weights")
    write_text(folder / "history.csv", history.to_csv())
    # Last, since this is what marks the run as done.
    write_json(folder / "metrics.json", figures)
    (folder / "checkpoint.safetensors").unlink(missing_ok=True)
    return figures


def load_problem(spec: Spec, *, workers: int = 1, store: Path | str | None = None) -> BenchmarkProblem:
    """Load the problem of a specification."""
    options = {"workers": workers} | dict(spec.options)
    if store is not None:
        options["store"] = str(store)
    return load(spec.problem, **options)


def finished(folder: Path, spec: Spec | None = None) -> dict[str, Any]:
    """Read the figures of a finished run; a folder of another run is refused."""
    if spec is not None:
        _refuse_another(folder, spec)
    figures = read_json(folder / "metrics.json")
    if not isinstance(figures, dict):
        raise FileError(f"{folder / 'metrics.json'} must hold an object of figures, got {type(figures).__name__}")
    return figures


def _refuse_another(folder: Path, spec: Spec) -> None:
    """Leave a folder of another run as it is; one that is not finished may be made longer."""
    there, here = read_json(folder / "spec.json"), spec.as_dict()
    if not isinstance(there, dict):
        raise FileError(f"{folder / 'spec.json'} must hold an object of settings, got {type(there).__name__}")
    if not (folder / "metrics.json").exists():
        there = there | {"epochs": spec.epochs}
    different = sorted(key for key in here | there if there.get(key) != json.loads(json.dumps(here)).get(key))
    if different:
        raise FileError(f"{folder} holds another run (it differs in {', '.join(different)}): choose another folder")


def trained(
    folder: Path | str, *, workers: int = 1, store: Path | str | None = None
) -> tuple[Spec, BenchmarkProblem, nn.Module]:
    """Load a finished run back: its specification, its problem and its model."""
    folder = Path(folder)
    if not (folder / "spec.json").is_file():
        raise FileError(f"{folder} is no run: there is no spec.json in it; make one with: regretless train")
    if not (folder / "weights.safetensors").is_file():
        raise FileError(f"{folder} is not finished: run the same train command again to go on")
    spec = Spec.from_dict(read_json(folder / "spec.json"))
    loaded = load_problem(spec, workers=workers, store=store)
    return spec, loaded, with_weights(loaded.model(0), folder)


def with_weights(model: nn.Module, folder: Path | str) -> nn.Module:
    """Put the weights of a finished run into a model of the same kind."""
    path = Path(folder) / "weights.safetensors"
    if not path.is_file():
        raise FileError(f"{folder} is not finished: run the same train command again to go on")
    weights = load_state(path, kind="weights")
    try:
        model.load_state_dict(weights)
    except (RuntimeError, TypeError, AttributeError) as error:
        raise FileError(f"{path} does not fit the model of this run: {str(error).splitlines()[0]}") from error
    return model


def record_failure(folder: Path | str, spec: Spec, error: BaseException) -> dict[str, Any]:
    """Keep a failed run with its error, so that the rest of a grid can go on."""
    known = isinstance(error, RegretlessError)
    figures = {"status": "failed", "error": str(error) if known else f"{type(error).__name__}: {error}"}
    write_json(Path(folder) / "spec.json", spec.as_dict())
    write_json(Path(folder) / "failure.json", figures)
    return figures


def _callbacks(spec: Spec, loaded: BenchmarkProblem) -> list[Callback]:
    callbacks: list[Callback] = []
    if spec.watch and loaded.evaluated_on == "test":
        callbacks.append(Watch(loaded.problem, loaded.test, name="test"))
    if spec.patience:
        callbacks.append(Watch(loaded.problem, _validation(spec, loaded), name="validation"))
        callbacks.append(EarlyStopping(patience=spec.patience, column="validation_regret"))
    return callbacks


def _validation(spec: Spec, loaded: BenchmarkProblem) -> Dataset:
    if loaded.validation is None:
        raise FileError(f"{spec.problem} has no validation data to stop on: leave out patience")
    return loaded.validation


# Several threads inside torch make these small steps slower, not faster.
def single_threaded() -> None:
    """Let torch use one thread, which is faster at this size; called by the command line only."""
    torch.set_num_threads(1)
