from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from regretless.errors import FileError, SolveError, TrainingError
from regretless.problems import BenchmarkProblem, load
from regretless.runs import Spec
from regretless.runs.trials import LOG, Scored, do_rounds, do_trial, finished, open_trials
from regretless.solvers.executors import Unanswered
from regretless.types import Status

optuna = pytest.importorskip("optuna")


def add_trial(folder: Path) -> int:
    """Do one trial; returns how many there are."""
    with open_trials(folder) as study:
        study.tell(study.ask(), 1.0)
        return len(study.get_trials())


def test_trials_of_earlier_processes_are_there(tmp_path: Path) -> None:
    assert [add_trial(tmp_path) for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_was_not_written_to_its_end_is_dropped(cut: int, tmp_path: Path) -> None:
    add_trial(tmp_path)
    whole = (tmp_path / LOG).read_bytes()
    with open_trials(tmp_path) as study:
        study.ask()
    torn = (tmp_path / LOG).read_bytes()[len(whole) :].splitlines()[0]
    (tmp_path / LOG).write_bytes(whole + torn[:-cut])
    assert add_trial(tmp_path) == 2
    assert add_trial(tmp_path) == 3, "Optuna alone reads such a log once, and never again"


def test_the_mark_of_a_process_that_was_killed_while_it_wrote_blocks_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    add_trial(Path("search-").parent)
    os.symlink(f"search/{LOG}", f"{LOG}.lock")  # relative, as Optuna makes it: its target cannot be found
    assert add_trial(Path()) == 2


def test_a_file_of_someone_else_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / LOG).write_text("my own notes\nwithout an end")
    with pytest.raises(FileError, match=r"trials\.log is damaged or foreign"), open_trials(tmp_path):
        pass
    assert (tmp_path / LOG).read_text() == "my own notes\nwithout an end"


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fills_up() -> None:
        with open_trials(tmp_path) as study:
            monkeypatch.setattr(os, "fsync", full)
            study.ask()

    with pytest.raises(FileError, match=r"cannot write .*trials\.log: No space left"):
        fills_up()
    with pytest.raises(FileError, match=r"cannot keep a search in .*: No space left"), open_trials(tmp_path):
        pass


optuna.logging.set_verbosity(optuna.logging.WARNING)
LEDGER = {"growth": {"solves": 3, "seconds": 0.5}}


def suggested(trial: Any) -> Spec:
    return Spec("synthetic-knapsack-60", "spo", lr=trial.suggest_float("lr", 1e-3, 1.0, log=True))


class Recorded:
    """In place of an executor: scores a trial by its learning rate, and keeps what it was given."""

    def __init__(self, workers: int = 1, *, diverges: float = 2.0) -> None:
        self.workers, self.diverges = workers, diverges
        self.rounds: list[list[float]] = []

    def map(self, jobs: list[Spec]) -> list[Scored]:
        self.rounds.append([job.lr for job in jobs])
        return [Scored(None if job.lr > self.diverges else (job.lr - 0.1) ** 2, LEDGER) for job in jobs]


def search(study: Any, run: Any, trials: int, *, seed: int = 0) -> list[Any]:
    return do_rounds(
        study, run, suggested, seed=seed, trials=trials, label="trials", progress=False
    )  # fmt: skip


def tried(study: Any) -> list[tuple[dict[str, float], float | None]]:
    return [(one.params, one.value) for one in finished(study)]


def test_a_round_has_as_many_trials_as_there_are_workers_and_the_last_one_what_is_left() -> None:
    study, run = optuna.create_study(), Recorded(workers=3)
    solves = search(study, run, 8)
    assert [len(one) for one in run.rounds] == [3, 3, 2]
    assert solves == [LEDGER] * 8
    assert [params["lr"] for params, _ in tried(study)] == [lr for one in run.rounds for lr in one]


# Optuna draws the first ten trials at random. The twelfth shares its round with the eleventh, and must not see it.
@pytest.mark.parametrize("stopped", [1, 4, 10, 11])
def test_a_search_that_is_continued_tries_what_one_without_a_stop_tries(stopped: int) -> None:
    whole, parts = optuna.create_study(), optuna.create_study()
    search(whole, Recorded(workers=2), 12)
    search(parts, Recorded(workers=2), stopped)
    search(parts, Recorded(workers=2), 12)
    assert tried(parts) == tried(whole)


def test_trials_that_were_done_are_not_repeated() -> None:
    study = optuna.create_study()
    search(study, Recorded(), 3)
    run = Recorded()
    assert search(study, run, 2) == []
    assert run.rounds == []


def test_the_seed_of_the_search_decides_what_is_tried() -> None:
    studies = [optuna.create_study() for _ in range(3)]
    for study, seed in zip(studies, (0, 0, 1), strict=True):
        search(study, Recorded(), 3, seed=seed)
    assert tried(studies[0]) == tried(studies[1]) != tried(studies[2])


def test_a_trial_that_diverged_is_kept_without_a_regret() -> None:
    study = optuna.create_study()
    search(study, Recorded(diverges=0.02), 8)
    values = [value for _, value in tried(study)]
    assert 0 < values.count(None) < 8
    assert len(values) == 8


def test_a_trial_whose_worker_ended_is_an_error_and_earlier_ones_are_kept() -> None:
    class Broken(Recorded):
        def map(self, jobs: list[Spec]) -> list[Any]:
            return [*super().map(jobs)[:1], Unanswered(Status.ERROR, "the process was killed")]

    study = optuna.create_study()
    with pytest.raises(SolveError, match="a trial has no result: the process was killed"):
        search(study, Broken(workers=2), 4)
    assert len(tried(study)) == 1


@pytest.fixture(scope="module")
def loaded() -> BenchmarkProblem:
    return load("synthetic-knapsack-60", days=20)


def test_a_trial_counts_its_own_solves_and_not_the_labels(loaded: BenchmarkProblem) -> None:
    def score(spec: Spec, given: BenchmarkProblem) -> float:
        assert given is loaded
        with given.problem.counted_as("scoring"):
            given.problem.solve(given.train.costs[:4])
        return spec.lr

    started = list[int]()
    spec = Spec("synthetic-knapsack-60", "spo", lr=0.25)
    for _ in range(2):  # the second must not count the first
        scored = do_trial(spec, lambda: started.append(1), loaded=loaded, score=score)
        assert scored.regret == 0.25
        own = {name: count["solves"] for name, count in scored.ledger.items() if name != "labels" and count["solves"]}
        assert own == {"scoring": 4}
    assert len(started) == 2


def test_training_that_diverges_is_no_error_of_the_search(loaded: BenchmarkProblem) -> None:
    def diverges(*_: Any) -> float:
        raise TrainingError("the loss is not finite")

    spec = Spec("synthetic-knapsack-60", "spo")
    assert do_trial(spec, lambda: None, loaded=loaded, score=diverges).regret is None
