"""Search for settings by validation regret; test data take no part."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from regretless.data import Dataset
from regretless.errors import FileError, InputError, TrainingError
from regretless.problems import BenchmarkProblem
from regretless.runs.run_folder import (
    has_labels,
    missing_paths,
    own_labels,
    read_object,
    refuse_foreign,
    removed_on_failure,
)
from regretless.runs.run_ledger import Ledger, grid_ledger, solve_ledger
from regretless.runs.run_lock import hold
from regretless.runs.spec import Spec
from regretless.runs.spec_check import check_spec
from regretless.runs.training_run import load_problem
from regretless.runs.trials import LOG, Scored, do_rounds, do_trial, finished, load_optuna, open_trials
from regretless.search import train
from regretless.solvers.executors import Execution, checked_workers, parse_executor
from regretless.storage import write_json
from regretless.tables.user_problem import is_model_file
from regretless.tensors import hash_of
from regretless.training import evaluate, methods
from regretless.training.checkpoint import OTHER_DATA

# Settings that are worth a search, with ranges on a logarithmic scale; all others stay fixed.
RANGES: dict[str, tuple[float, float]] = {
    "lambda_": (1e-2, 1e3), "tau": (1e-3, 1e2), "cutoff": (1e-3, 1e1), "temperature": (1e-2, 1e1),
    "sigma": (5e-2, 2.0), "p_solve": (1e-2, 1.0),
}  # fmt: skip
SEARCH, BEST = "search.json", "best.json"
LR = (1e-3, 3.0)
FEWEST_EPOCHS = 2


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    Attributes:
        spec: the best specification.
        regret: its exact validation regret.
        trials: number of settings tried, earlier sessions included.
        failed: trials whose training diverged.
        ledger: of the exact solves of this session.
    """

    spec: Spec
    regret: float
    trials: int
    failed: int
    ledger: Ledger = field(default_factory=dict, compare=False)


def tune_settings(
    spec: Spec,
    folder: Path | str,
    *,
    loaded: BenchmarkProblem | None = None,
    workers: int | None = 1,
    executor: str = "threads",
    trials: int = 50,
    most_epochs: int = 40,
    with_p_solve: bool = False,
    progress: bool | None = None,
) -> Tuned:
    """Search learning rate, epochs and the method's own settings with Optuna; an earlier search is continued.

    Args:
        spec: problem, method, seed and everything that stays fixed.
        folder: keeps the search (``search.json``), its trials (``trials.log``), the labels (``labels``) and the best
            settings (``best.json``).
        loaded: the problem, where it is loaded already; only its training and validation data are used.
        workers: with ``threads``, instances that an engine solves at the same time; else trials at the same time.
        executor: who works: ``threads`` do one trial after another; ``processes`` and ``ray[:ADDRESS]`` do rounds of
            ``workers`` trials, of which none sees the others' results. The numbers then depend on ``workers``.
        trials: in all, those of earlier sessions included.
        most_epochs: upper end of the range of epochs.
        with_p_solve: also search the probability of a solve, which trades regret for time.
        progress: show a bar; by default on a terminal.

    Raises:
        InputError: the split has no validation data, or a setting cannot be used.
        FileError: the folder holds another search or the user's own files with the names of ours, another process is
            at work in it, its files are damaged or cannot be written, or every trial diverged.
        MissingDependencyError: Optuna is not installed.
    """
    load_optuna()
    folder = Path(folder)
    if trials < 1 or most_epochs < FEWEST_EPOCHS:
        raise InputError(f"need trials >= 1 and most_epochs >= {FEWEST_EPOCHS}, got {trials} and {most_epochs}")
    if with_p_solve and not methods.method(spec.method).cached:
        raise InputError(f"method {spec.method!r} has no cache, so there is no p_solve to search")
    if with_p_solve and "p_solve" in spec.settings:
        raise InputError(
            "with_p_solve searches p_solve, so it cannot be fixed: leave out one of --with-p-solve, --p-solve"
        )
    one_by_one = parse_executor(executor)[0] == "threads"
    check_spec(spec, workers=workers)
    ranges = searched(spec.method, with_p_solve=with_p_solve)
    # A setting that was given is not searched.
    ranges = {name: value for name, value in ranges.items() if name not in spec.settings}
    identity = {"spec": spec.as_dict(), "epochs": most_epochs, "ranges": sorted(ranges)}
    at_once = 1 if one_by_one else checked_workers(workers, executor)
    identity |= {} if at_once == 1 else {"trials_at_once": at_once}
    refuse_foreign(folder, what="search", mark=SEARCH, names=(BEST, LOG))
    _refuse_another(folder, identity)
    held_out = spec.options.get("validation") or not is_model_file(spec.problem)
    if loaded is None and not held_out:
        raise _no_validation(spec)
    suggested = partial(_suggested, spec=spec, ranges=ranges, most_epochs=most_epochs)
    study: Any = None
    new = missing_paths(folder, (".lock",))
    begun = [path for path in (folder / SEARCH, folder / LOG) if not path.exists()]
    with (
        hold(folder),
        removed_on_failure(new, unless=lambda: has_labels(folder) or _has_trials(study)),
        removed_on_failure(begun, unless=lambda: _has_trials(study)),
        own_labels(folder) as store,
    ):
        _refuse_another(folder, identity)  # before Optuna opens its log, which it writes to at once
        loaded = loaded or load_problem(spec, workers=workers if one_by_one else 1, store=store)
        if loaded.validation is None:
            raise _no_validation(spec)
        identity["data"] = _digest_of(loaded.problem.fingerprint, loaded.train, loaded.validation)
        _refuse_another(folder, identity)
        trial = partial(do_trial, loaded=loaded, score=_validation_regret)
        run: Execution[Spec, Scored] = Execution(executor, trial, workers=at_once, limit=None)
        solves = [solve_ledger(loaded.problem)]
        write_json(folder / SEARCH, identity)
        with open_trials(folder) as study:
            solves += do_rounds(
                study, run, suggested, seed=spec.seed, trials=trials, label=f"tuning {spec.method}", progress=progress,
            )  # fmt: skip
    # The labels stand in the ledger of every trial, and count once.
    return replace(_best(study, folder, suggested), ledger=grid_ledger((spec.problem, one) for one in solves))


def _no_validation(spec: Spec) -> InputError:
    return InputError(
        f"{spec.problem} has no validation data to tune on, and test data are no substitute: "
        "use --validation 0.1 with a model file, --option validation=100 with data from a formula, or --split "
        "chronological or random with data of files"
    )


def searched(method: str, *, with_p_solve: bool = False) -> dict[str, tuple[float, float]]:
    """Settings of a method that a search varies, with their ranges."""
    row = methods.method(method)
    names = [*row.options, *(["p_solve"] if row.cached and with_p_solve else [])]
    return {name: RANGES[name] for name in names if name in RANGES}


def _digest_of(fingerprint: str | None, *parts: Dataset) -> str:
    """A hash of a problem and its data, without the solutions: where a time limit ends solves, these may differ."""
    tensors = (one for part in parts for one in (part.features, part.costs, part.instance) if one is not None)
    return hashlib.sha256(f"{fingerprint} {hash_of(tensors)}".encode()).hexdigest()[:16]


def _refuse_another(folder: Path, identity: dict[str, Any]) -> None:
    """Refuse a folder with another search; the data are compared where both are known."""
    if not (folder / SEARCH).exists():
        return
    there, here = read_object(folder / SEARCH), json.loads(json.dumps(identity))
    before = there.pop("data", None)
    now = here.pop("data", before)
    if there != here:
        raise FileError(f"{folder} holds another search (other problem, method or settings): choose another --out")
    if before not in (None, now):
        raise FileError(f"{folder} holds a search on other data. {OTHER_DATA}")


def _has_trials(study: Any) -> bool:
    """Whether there is a finished trial to keep; a log that cannot be read is no reason to remove it."""
    try:
        return study is not None and bool(finished(study))
    except FileNotFoundError:  # removed before
        return False
    except OSError:
        return True


def _suggested(trial: Any, spec: Spec, ranges: dict[str, tuple[float, float]], most_epochs: int) -> Spec:
    row = methods.method(spec.method)
    settings = {name: trial.suggest_float(name, low, high, log=True) for name, (low, high) in ranges.items()}
    if row.search is not None:
        # A direct search has generations in place of epochs, and no learning rate.
        return replace(spec, settings={"generations": most_epochs, **spec.settings, **settings})
    lr = trial.suggest_float("lr", *LR, log=True)
    epochs = trial.suggest_int("epochs", FEWEST_EPOCHS, most_epochs)
    return replace(spec, lr=lr, epochs=epochs, settings={**spec.settings, **settings})


def _validation_regret(spec: Spec, loaded: BenchmarkProblem) -> float:
    assert loaded.validation is not None
    row = methods.method(spec.method)
    training: dict[str, Any] = {}
    if row.search is None:
        batch_size = spec.batch_size or row.batch_size or loaded.batch_size
        training = {"epochs": spec.epochs, "lr": spec.lr, "batch_size": batch_size}
    first = loaded.model(spec.first_weights)
    model = train(
        loaded.problem, loaded.train, first, method=spec.method, seed=spec.seed, progress=False, **training,
        **spec.settings,
    ).model  # fmt: skip
    regret = evaluate(model, loaded.validation, loaded.problem).regret
    if not math.isfinite(regret):
        raise TrainingError("no validation instance could be solved")
    return regret


def _best(study: Any, folder: Path, suggested: Callable[[Any], Spec]) -> Tuned:
    ended = finished(study)
    failed = sum(trial.value is None for trial in ended)
    if failed == len(ended):
        raise FileError(f"every trial in {folder} diverged: scale the features or the costs")
    best = study.best_trial
    chosen = suggested(load_optuna().trial.FixedTrial(best.params))
    tuned = Tuned(chosen, float(best.value), len(ended), failed)
    summary = {"spec": chosen.as_dict(), "validation_regret": tuned.regret, "trials": tuned.trials, "failed": failed}
    write_json(folder / BEST, summary)
    return tuned
