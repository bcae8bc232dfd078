"""The trials of a search: their rounds, and Optuna's journal, in which what a killed process left does no harm."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regretless.errors import FileError, RegretlessError, SolveError, TrainingError
from regretless.optional import need
from regretless.problems import BenchmarkProblem
from regretless.progress import track
from regretless.runs.run_ledger import Ledger, solve_ledger
from regretless.runs.spec import Spec
from regretless.solvers.executors import Clock, Execution, Unanswered
from regretless.storage import write_bytes

LOG = "trials.log"
Suggested = Callable[[Any], Spec]


def load_optuna() -> Any:
    """The package, whose absence is an error that says how to install it."""
    return need("optuna", pip="optuna", why="tune settings")


@contextlib.contextmanager
def open_trials(folder: Path) -> Iterator[Any]:
    """Hold the Optuna study of a folder, whose lock the caller holds.

    Raises:
        FileError: the log cannot be read or written, or it is damaged.
    """
    optuna = load_optuna()
    path = folder / LOG
    # Optuna marks its own writes with this file. Left by a killed process it blocks the next one, for ever where its
    # target is a relative path.
    path.with_name(f"{LOG}.lock").unlink(missing_ok=True)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        _drop_torn_line(path)
        backend = optuna.storages.journal.JournalFileBackend(str(path.absolute()))
        storage = optuna.storages.JournalStorage(backend)
        study = optuna.create_study(storage=storage, study_name="regretless", load_if_exists=True)
    except (OSError, RegretlessError) as error:
        raise FileError(f"cannot keep a search in {folder}: {_cause(error)}") from error
    except Exception as error:  # a damaged log makes Optuna raise anything
        raise FileError(f"{path} is damaged or foreign: {error}") from error
    try:
        yield study
    except OSError as error:
        raise FileError(f"cannot write {path}: {_cause(error)}; trials that ended are kept") from error


def _drop_torn_line(path: Path) -> None:
    """Cut a line off that was not written to its end: Optuna would append to it, and never read the file again."""
    content = path.read_bytes() if path.exists() else b""
    whole = content.rfind(b"\n") + 1
    if whole < len(content) and content.startswith(b'{"op_code"'):  # a file of someone else is left alone
        write_bytes(path, content[:whole])


def _cause(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


@dataclass(frozen=True)
class Scored:
    """The validation regret of a trial, ``None`` where its training diverged, and its exact solves."""

    regret: float | None
    ledger: Ledger


def do_trial(
    spec: Spec, clock: Clock, *, loaded: BenchmarkProblem, score: Callable[[Spec, BenchmarkProblem], float]
) -> Scored:
    """Do one trial, in whatever thread, process or node; ``score`` trains and returns the validation regret."""
    clock()
    before = solve_ledger(loaded.problem)
    try:
        regret = score(spec, loaded)
    except TrainingError:
        regret = None
    return Scored(regret, solve_ledger(loaded.problem, since=before))


def do_rounds(
    study: Any,
    run: Execution[Spec, Scored],
    suggested: Suggested,
    *,
    seed: int,
    trials: int,
    label: str,
    progress: bool | None,
) -> list[Ledger]:
    """Do the trials that are left, as many at the same time as ``run`` has workers, and return their exact solves.

    ``trials`` counts those of earlier sessions as well, which the study keeps.
    """
    done, size, solves = len(finished(study)), run.workers, []
    rounds = range(done // size, math.ceil(trials / size))
    for number in track(rounds, total=len(rounds), label=label, show=progress):
        numbers = range(max(number * size, done), min((number + 1) * size, trials))
        asked = [_ask(study, [seed, k], number * size) for k in numbers]
        for trial, answer in zip(asked, run.map([suggested(trial) for trial in asked]), strict=True):
            if isinstance(answer, Unanswered):
                raise SolveError(f"a trial has no result: {answer.message}")
            solves.append(answer.ledger)
            _keep(study, trial, answer.regret)
    return solves


def finished(study: Any) -> list[Any]:
    """The trials that have ended, in order."""
    optuna = load_optuna()
    states = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    return list(study.get_trials(deepcopy=False, states=states))


def _ask(study: Any, seed: Sequence[int], first: int) -> Any:
    """One trial, whose settings follow from the results of the trials before ``first``.

    Every trial has its own seeded sampler and sees the earlier rounds only: a search that was stopped continues as if
    it had not been, and it does not matter in which order the trials of a round end.
    """
    optuna, start = load_optuna(), int(np.random.default_rng(seed).integers(2**31))
    seen = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=start))
    seen.add_trials(finished(study)[:first])
    return seen.ask()


def _keep(study: Any, trial: Any, regret: float | None) -> None:
    """Add a trial to the study; one whose training diverged has no regret."""
    optuna = load_optuna()
    state = optuna.trial.TrialState.PRUNED if regret is None else optuna.trial.TrialState.COMPLETE
    study.add_trial(
        optuna.trial.create_trial(params=trial.params, distributions=trial.distributions, value=regret, state=state)
    )
