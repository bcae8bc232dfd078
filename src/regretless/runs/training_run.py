"""Do one run: train, evaluate, and keep everything in the run's folder."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regretless.begun_solves import BegunSolves, beside
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.optional import version_of
from regretless.problems import BenchmarkProblem, load
from regretless.runs import run_folder as files
from regretless.runs.held_out import write_held_out
from regretless.runs.known_files import cached_solutions, write_known
from regretless.runs.run_folder import has_labels, own_labels, remove_labels
from regretless.runs.run_ledger import solve_ledger
from regretless.runs.run_lock import hold
from regretless.runs.spec import STARTS, Spec
from regretless.runs.spec_check import check_spec
from regretless.search import AutoResult, Trained, train
from regretless.search.train_method import unused_arguments
from regretless.storage import TEMPORARY, load_state, save_state, write_json, write_text
from regretless.tables import saved_problem
from regretless.tables.saved_data import has_saved_data, load_saved_data, refuse_other_files, save_data
from regretless.training import Callback, Watch, methods
from regretless.training.evaluation import evaluate_instances
from regretless.training.model_terms import default_terms
from regretless.training.two_stage import fit_two_stage

PACKAGES = ("regretless", "numpy", "scipy", "torch", "highspy")


def run(
    spec: Spec,
    folder: Path | str,
    *,
    loaded: BenchmarkProblem | None = None,
    load: Callable[..., BenchmarkProblem] | None = None,
    workers: int | None = 1,
    executor: str = "threads",
    store: Path | str | None = None,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Train and evaluate one specification, and keep everything in ``folder``.

    The figures of a finished run are returned. An interrupted run continues from its last epoch, and with the labels
    (true optima) that it had solved. A run that fails before there is an epoch or a label to continue from leaves
    nothing behind.

    Args:
        spec: what to run.
        folder: where to keep it.
        loaded: the problem, where it is loaded already.
        load: ``(spec, workers=, executor=, store=) -> problem``; by default ``load_problem``.
        workers: instances that an engine solves at the same time; they do not change the numbers.
        executor: who solves them: ``threads``, ``processes`` or ``ray[:ADDRESS]``.
        store: folder that keeps true optima; by default within ``folder``, until the run is done.
        progress: show bars; by default on a terminal.

    Returns:
        The figures: ``status``, ``on`` (which data), ``regret``, ``relative_regret``, ``mse``, ``auc``, times, counts
        and the ``ledger`` of solves.

    Raises:
        InputError, MissingDependencyError: a setting or a package; nothing was solved.
        FileError: the folder holds another run, another process is at work in it, or it cannot be written.
    """
    folder = Path(folder)
    files.refuse_foreign(folder)
    files.refuse_another(folder, spec)
    if (folder / files.METRICS).exists():
        return files.read_figures(folder)
    check_spec(spec, workers=workers, executor=executor)
    new = files.missing_paths(folder, files.FIRST)
    with hold(folder):
        files.refuse_another(folder, spec)
        if (folder / files.METRICS).exists():  # another process finished it in the meantime
            return files.read_figures(folder)
        kept = files.removed_on_failure(new, unless=lambda: files.has_epochs(folder) or has_labels(folder))
        with kept, own_labels(folder) as own:
            if loaded is None:
                loaded = (load or load_problem)(spec, workers=workers, executor=executor, store=store or own)
            figures = _run(spec, folder, loaded, progress)
            remove_labels(folder)
            return figures


def _run(spec: Spec, folder: Path, loaded: BenchmarkProblem, progress: bool | None) -> dict[str, Any]:
    if spec.patience and loaded.validation is None:
        raise InputError(f"patience needs validation data, and {spec.problem} has none: leave patience out")
    for left in folder.glob(TEMPORARY):  # by a process that was killed while it wrote; the lock is ours
        left.unlink(missing_ok=True)
    resumed = files.has_epochs(folder)
    if not resumed:  # or else the checkpoint may be of other data, and is refused
        _write_first(spec, folder, loaded)
    model, before = loaded.model(spec.first_weights), solve_ledger(loaded.problem)
    start = time.perf_counter()
    fitted = _train(
        spec, loaded, model, loaded.validation if spec.patience else None, folder / files.CHECKPOINT, progress
    )
    seconds = time.perf_counter() - start
    model, history = fitted.model, fitted.history
    begun = BegunSolves(beside(folder / files.CHECKPOINT), loaded.problem.found)
    result, decided = evaluate_instances(model, loaded.test, loaded.problem, begun=begun, progress=progress)
    # Of a training that was interrupted, only the history has the epochs of an earlier process.
    seconds = max(seconds, history.total("seconds"))
    figures = {"status": "done", "reason": fitted.reason, "epochs": len(history), "train_seconds": seconds}
    figures |= {"on": loaded.evaluated_on, **result.as_dict(), **loaded.counts}
    figures |= {"epoch_seconds": history.total("seconds") / len(history) if len(history) else None}
    figures |= {"solver_seconds": history.total("solver_seconds")}
    figures |= {name: int(history.total(name)) for name in ("solves", "lookups")}
    figures |= {f"training_{name}": int(history.total(name)) for name in ("not_optimal", "failed")}
    figures |= {"training_labels_not_optimal": loaded.train.not_optimal}
    figures |= {"cache_size": history[-1]["cache_size"] if len(history) else None}
    if fitted.search is not None or loaded.kept is not None:
        baseline = _baseline(spec, loaded, fitted, progress)
        compared = result, decided
        if baseline is not model:
            compared = evaluate_instances(baseline, loaded.test, loaded.problem, begun=begun, progress=progress)
        save_state(folder / files.TWO_STAGE, dict(baseline.state_dict()), kind="weights")
        write_held_out(folder, loaded, decided, compared[1])
        figures |= {"two_stage_regret": compared[0].regret}
    if fitted.search is not None:
        figures |= _search_figures(fitted.search, folder)
    ledger = solve_ledger(loaded.problem, since=before, history=history)
    if fitted.search is not None:  # as for the history: an earlier process may have made some of them
        ledger["scoring"]["solves"] = fitted.search.solves["scoring"]
    figures |= {"ledger": ledger}
    if resumed or not (folder / files.SPEC).exists():  # somebody removed the folder in the meantime
        _write_first(spec, folder, loaded)
    if loaded.kept is not None:
        save_data(folder, loaded)
        if fitted.cache is not None:
            fitted.cache.save(folder / files.CACHE)
    if loaded.problem.found is not None:
        write_known(folder, loaded.problem.found)
    save_state(folder / files.WEIGHTS, dict(model.state_dict()), kind="weights")
    write_text(folder / "history.csv", history.to_csv())
    # Last, since this is what marks the run as done.
    write_json(folder / files.METRICS, figures)
    for path in (folder / files.CHECKPOINT, beside(folder / files.CHECKPOINT)):
        path.unlink(missing_ok=True)
    return figures


def _write_first(spec: Spec, folder: Path, loaded: BenchmarkProblem) -> None:
    """Write what a run needs beside its weights."""
    write_json(folder / files.SPEC, spec.as_dict())
    write_json(folder / "environment.json", environment())
    if loaded.kept is not None:
        saved_problem.save_problem(folder, loaded.kept)


def _baseline(spec: Spec, loaded: BenchmarkProblem, fitted: Trained, progress: bool | None) -> nn.Module:
    """The best two-stage model on the same data, to compare with."""
    if fitted.search is not None:
        return fitted.search.two_stage
    if spec.method == "two-stage" and spec.settings.get("fit") == "best":
        return fitted.model
    model = loaded.model(spec.first_weights)
    fit_two_stage(model, loaded.train, seed=spec.seed, progress=progress)
    return model


def _search_figures(search: AutoResult, folder: Path) -> dict[str, Any]:
    """Keep what a search found beside its model, and return the figures that belong to the run's own."""
    scores = [asdict(score) for score in search.scores]
    about = {"chosen": search.chosen, "verdict": search.verdict.as_dict(), "candidates": scores}
    write_json(folder / "search.json", about)
    return {
        "chosen": search.chosen,
        "verdict": str(search.verdict),
        "solves": search.solves["growth"],
        "scoring_solves": search.solves["scoring"],
        "lookups": search.cache.statistics.lookups,
    }


def _start(spec: Spec) -> Any:
    """Initial weights of a run, for ``train``; a search that goes on from another run starts again."""
    if spec.retrain and spec.method != "auto":
        return load_state(Path(spec.retrain) / files.WEIGHTS, kind="weights")
    if spec.start in STARTS:
        return spec.start or None
    return load_state(Path(spec.start) / files.WEIGHTS, kind="weights")


def _train(
    spec: Spec,
    loaded: BenchmarkProblem,
    model: nn.Module,
    validation: Dataset | None,
    checkpoint: Path,
    progress: bool | None,
) -> Trained:
    callbacks: list[Callback] = []
    if spec.watch and loaded.evaluated_on == "test":
        callbacks.append(Watch(loaded.problem, loaded.test, name="test"))
    training: dict[str, Any] = {"epochs": spec.epochs or None, "start": _start(spec)}
    if isinstance(training["start"], dict):
        model = files.shaped_like(training["start"], model)
        if different := files.misfit(training["start"], model):
            raise InputError(
                f"the weights of {spec.start or spec.retrain} do not fit the model of this run: {different}"
            )
    if spec.method != "auto":
        batch_size = spec.batch_size or methods.method(spec.method).batch_size or loaded.batch_size
        training |= {"epochs": spec.epochs, "lr": spec.lr, "batch_size": batch_size, "validation": validation}
        training |= {"patience": spec.patience, "callbacks": callbacks}
    else:
        # A model that the user chose stays of its kind.
        own = bool({"model", "intercepts"} & spec.options.keys())
        training["terms"] = "none" if own else default_terms(model, loaded.problem.dimension)
        if spec.batch_size:
            training["batch_size"] = spec.batch_size
    first = cached_solutions(spec.retrain, loaded.problem) if spec.retrain else None
    training |= {"solutions": first, "checkpoint": checkpoint}
    # A specification has all fields, whether its method uses them or not.
    unused = unused_arguments(spec.method, spec.settings, training)
    used = {name: value for name, value in training.items() if name not in unused}
    return train(
        loaded.problem, loaded.train, model, method=spec.method, seed=spec.seed, progress=progress,
        **(used | spec.settings),
    )  # fmt: skip


def load_problem(
    spec: Spec, *, workers: int | None = 1, executor: str = "threads", store: Path | str | None = None
) -> BenchmarkProblem:
    """Load the problem of a specification."""
    if spec.retrain:
        raise InputError(f"this run goes on from {spec.retrain}: use regretless retrain")
    options = {"workers": workers, "executor": executor} | dict(spec.options)
    if store is not None:
        options["store"] = str(store)
    return load(spec.problem, **options)


def load_trained(
    folder: Path | str, *, workers: int | None = 1, executor: str = "threads"
) -> tuple[Spec, BenchmarkProblem, nn.Module]:
    """Load a finished run: its specification, its problem and its model."""
    spec = files.read_spec(Path(folder))
    if has_saved_data(folder):
        loaded = load_saved_data(folder, workers=workers, executor=executor)
        loaded.problem.on_failure = spec.options.get("on_failure", "raise")
    else:
        if saved_problem.has_saved_problem(folder):
            refuse_other_files(folder, {"model": spec.problem} | spec.options)
        loaded = load_problem(spec, workers=workers, executor=executor)
    return spec, loaded, files.with_weights(loaded.model(0), Path(folder))


def environment() -> dict[str, str]:
    """Versions and machine, kept with every run."""
    versions = {package: version_of(package) or "not installed" for package in PACKAGES}
    return versions | {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}


def single_threaded() -> None:
    """Let torch use one thread, which is faster for steps of this size; only the command line calls this."""
    torch.set_num_threads(1)
