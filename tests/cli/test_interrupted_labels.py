"""Ctrl-C while true optima or evaluations are solved: what was solved is kept, and the same command continues."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from regretless import begun_solves
from regretless.runs import run_folder
from regretless.solvers.pool import EnginePool
from regretless.training.evaluation import evaluate_instances
from regretless.types import Solved

from .files import CommandLine, Files, make_files, write_csv
from .test_retrain import more


@pytest.fixture(autouse=True)
def all_work_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(begun_solves, "WORTH", 0.0)
    monkeypatch.setattr(run_folder, "WORTH", 0.0)
    monkeypatch.setattr("regretless.solvers.executors.cores", lambda: 1)  # the batches of one worker are 1, 2, 4, ...
    monkeypatch.setattr("regretless.solve_batches.SHORT", float("inf"))  # also where the machine stands still


class Interrupt:
    """An engine that is interrupted in the first batch of so many instances; those of labels are 1, 2, 4, ..."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, instances: int) -> None:
        self.came, solve = False, EnginePool.solve

        def attempt(pool: EnginePool, costs: Tensor, *given: object, **how: object) -> Solved:
            if len(costs) == instances and not self.came:
                self.came = True
                raise KeyboardInterrupt
            return solve(pool, costs, *given, **how)  # type: ignore[arg-type]

        monkeypatch.setattr(EnginePool, "solve", attempt)


def interrupted(cli: CommandLine, words: list[object], folder: Path) -> None:
    result = cli(*words)
    assert result.code == 130
    assert f"interrupted: {folder} keeps the labels (true optima) solved so far" in result.err
    assert "the same command continues" in result.err


def labels(cli: CommandLine, words: list[object]) -> int:
    return int(cli.ok(*words, "--json").json["ledger"].get("labels", {"solves": 0})["solves"])


def files_of(folder: Path) -> dict[str, bytes]:
    timed = ("metrics.json", "history.csv", "cache.safetensors", ".lock")  # with seconds, or solves of this process
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in timed}


def test_train_continues_and_ends_in_the_same_run(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = make_files(tmp_path)
    Interrupt(monkeypatch, instances=8)
    interrupted(cli, files.words(epochs=3), files.folder / "run")
    # The first row was solved before all others, to see whether the model can be solved at all.
    assert labels(cli, files.words(epochs=3)) == 40 - 1 - (1 + 2 + 4)
    cli.ok(*files.words("undisturbed", epochs=3))
    assert files_of(files.folder / "run") == files_of(files.folder / "undisturbed")
    assert not (files.folder / "run" / "labels").exists()


def test_labels_are_not_solved_again_for_the_epochs_that_are_left(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = make_files(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("regretless.runs.training_run.evaluate_instances", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            cli(*files.words(epochs=3))
    assert labels(cli, [*files.words(epochs=3), "--resume"]) == 0


def test_after_training_the_message_says_that_resume_continues(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = make_files(tmp_path)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("regretless.runs.training_run.evaluate_instances", stop)
        result = cli(*files.words(epochs=3))
    run = files.folder / "run"
    assert result.code == 130
    assert result.err == (
        f"interrupted: {run} keeps the epochs trained so far, and the same command with --resume continues\n"
    )
    cli.ok(*files.words(epochs=3), "--resume")


def test_the_final_evaluation_continues(cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, calls = make_files(tmp_path), iter(range(2))
    whole = cli.ok(*files.words("undisturbed", epochs=3), "--json").json

    def interrupted(*given: Any, **how: Any) -> Any:
        if next(calls):  # the second one, of two-stage
            raise KeyboardInterrupt
        return evaluate_instances(*given, **how)

    with monkeypatch.context() as patch:
        patch.setattr("regretless.runs.training_run.evaluate_instances", interrupted)
        assert cli(*files.words(epochs=3)).code == 130
    resumed = cli.ok(*files.words(epochs=3), "--resume", "--json").json
    solves = [figures["ledger"]["evaluation"]["solves"] for figures in (whole, resumed)]
    assert solves == [2 * whole["instances"], whole["instances"]]
    assert (resumed["regret"], resumed["cut_short"]) == (whole["regret"], whole["cut_short"])
    assert files_of(files.folder / "run") == files_of(files.folder / "undisturbed")


def test_tune_continues_and_keeps_its_labels_for_more_trials(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna")
    files = make_files(tmp_path)
    words = ["tune", *files.words(p_solve=None, epochs=None)[1:], "--most-epochs", 2, "--trials"]
    Interrupt(monkeypatch, instances=8)
    interrupted(cli, [*words, 1], files.folder / "run")
    assert labels(cli, [*words, 1]) == 40 - 1 - (1 + 2 + 4)
    assert labels(cli, [*words, 2]) == 0


def test_tune_says_that_it_keeps_its_labels_where_no_trial_has_ended(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    files = make_files(tmp_path)
    words = ["tune", *files.words(p_solve=None, epochs=None)[1:], "--most-epochs", 2, "--trials", 1]
    with monkeypatch.context() as patch:
        patch.setattr("regretless.runs.tune._validation_regret", stop)
        interrupted(cli, words, files.folder / "run")
    assert sorted(path.name for path in (files.folder / "run").iterdir()) == [".lock", "labels"]
    assert labels(cli, words) == 0


def test_retrain_continues(
    cli: CommandLine, trained_files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, c = more(trained_files)
    run, out = trained_files.folder / "run", tmp_path / "new"
    words: list[object] = ["retrain", run, "--features", x, "--costs", c, "--out", out]
    with monkeypatch.context() as patch:
        Interrupt(patch, instances=4)
        interrupted(cli, words, out)
    assert labels(cli, words) == 10 - (1 + 2)
    assert not (out / "labels").exists()


def test_evaluate_continues_on_other_data(
    cli: CommandLine, trained_files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, c = more(trained_files)
    run = trained_files.folder / "run"
    words: list[object] = ["evaluate", run, "--features", x, "--costs", c]
    whole, kept = cli.ok(*words, "--json").json, run / "evaluation-solves.safetensors"
    said = f"interrupted: {kept} keeps the exact solves so far, and the same command continues\n"

    def interrupted(*given: Any, **how: Any) -> None:
        evaluate_instances(*given, **how)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        Interrupt(patch, instances=4)
        first = cli(*words)
        patch.setattr("regretless.runs.evaluate.evaluate_instances", interrupted)
        second = cli(*words)
    assert (first.code, first.err, second.code, second.err) == (130, said, 130, said)
    resumed = cli.ok(*words, "--json").json
    assert resumed["regret"] == whole["regret"]
    assert [resumed["ledger"].get(name, {"solves": 0})["solves"] for name in ("labels", "evaluation")] == [0, 10], (
        "two-stage had not begun"
    )
    assert not kept.exists()


def test_an_audit_continues(
    cli: CommandLine, logged: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, costs = Path(shutil.copy(logged[0], tmp_path)), logged[1]
    calls, solve, stop = list[int](), EnginePool.solve, 5

    def attempt(pool: EnginePool, given: Tensor, *more: object, **how: object) -> Solved:
        if len(calls) == stop:
            raise KeyboardInterrupt
        calls.append(len(given))
        return solve(pool, given, *more, **how)  # type: ignore[arg-type]

    whole = cli.ok("audit", log, "--costs", costs, "--json").json
    with monkeypatch.context() as patch:
        patch.setattr(EnginePool, "solve", attempt)
        result = cli("audit", log, "--costs", costs)
        assert (result.code, result.err) == (130, f"interrupted: {tmp_path}/d-solves.safetensors keeps the exact "
                                                  "solves so far, and the same command continues\n")  # fmt: skip
        stop = 100
        assert cli.ok("audit", log, "--costs", costs, "--json").json == whole
    assert calls == [1] * 40, "every solve is made once"
    assert not (tmp_path / "d-solves.safetensors").exists()


def test_a_command_that_fails_at_once_leaves_nothing(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "WORTH", 60.0)
    files = make_files(tmp_path)
    Interrupt(monkeypatch, instances=8)
    assert cli(*files.words(epochs=3)).code == 130
    assert not (files.folder / "run").exists()


HARD = """
import numpy as np, sys
generator = np.random.default_rng(0)
weights = generator.integers(5, 60, (12, 60))
names = [f"x{j}" for j in range(60)]
terms = [" + ".join(f"{w} {x}" for w, x in zip(row, names)) for row in weights]
rows = "".join(f" r{i}: {term} <= {weights[i].sum() // 3}\\n" for i, term in enumerate(terms))
objective = " + ".join(f"{c} {x}" for c, x in zip(generator.integers(30, 50, 60), names))
open("hard.lp", "w").write(f"maximize\\n v: {objective}\\nsubject to\\n{rows}binary\\n {' '.join(names)}\\nend\\n")
"""


@pytest.mark.slow
def test_an_engine_at_work_does_not_abort_the_process(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", HARD], cwd=tmp_path, check=True)
    names = [f"x{j}" for j in range(60)]
    write_csv(tmp_path / "x.csv", ["a"], [[k] for k in range(20)])
    write_csv(tmp_path / "c.csv", names, [[40 + (k * j) % 7 for j in range(60)] for k in range(20)])
    words = ["train", "hard.lp", "--features", "x.csv", "--costs", "c.csv", "--time-limit", "60", "--out", "run"]
    with subprocess.Popen(
        [sys.executable, "-m", "regretless", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        while not (tmp_path / "run" / ".lock").exists():  # settings are checked, and solves begin
            time.sleep(0.01)
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 130, said
    assert said.strip().startswith("interrupted")
    assert "terminate called" not in said
