from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from torch import Tensor

from regretless.errors import FileError, InputError
from regretless.problem import Problem
from regretless.problems import BenchmarkProblem, load
from regretless.problems.knapsack.oracle import KnapsackOracle
from regretless.runs import Spec, load_trained, run
from regretless.runs.run_lock import try_lock
from regretless.training import methods

SPEC = Spec("synthetic-knapsack-60", "map-dc", epochs=1, options={"days": 30})


@pytest.fixture(scope="module")
def loaded() -> BenchmarkProblem:
    return load("synthetic-knapsack-60", days=30)


def test_figures_say_what_was_not_solved_to_the_end(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    figures = run(SPEC, tmp_path / "run", loaded=loaded)
    counts = ("not_optimal", "cut_short", "failed", "training_not_optimal", "training_failed")
    assert [figures[name] for name in counts] == [0] * 5
    assert figures["training_labels_not_optimal"] == 0


def test_a_folder_with_epochs_of_another_run_is_left_as_it_is(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text(json.dumps(SPEC.as_dict()))
    (tmp_path / "checkpoint.safetensors").write_bytes(b"epochs")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(FileError, match=r"holds another run \(it differs in lr, seed\)"):
        run(replace(SPEC, seed=1, lr=0.2), tmp_path, loaded=loaded)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_a_killed_process_left_half_written_is_removed(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    for name in (".environment.json.0a1b2c3d.tmp", ".checkpoint.safetensors.0a1b2c3d.tmp"):
        (tmp_path / name).write_text("{")
    run(SPEC, tmp_path, loaded=loaded)
    assert not list(tmp_path.glob(".*.tmp"))


def test_an_unfinished_run_may_be_made_longer(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text(json.dumps(SPEC.as_dict()))
    assert run(replace(SPEC, epochs=2), tmp_path, loaded=loaded)["epochs"] == 2


@pytest.mark.parametrize("content", [json.dumps(replace(SPEC, seed=7).as_dict()), "", "[1]"])
def test_a_folder_without_an_epoch_is_used_whatever_its_specification_says(
    content: str, loaded: BenchmarkProblem, tmp_path: Path
) -> None:
    for name in ("spec.json", "environment.json", ".lock"):
        (tmp_path / name).write_text(content)
    assert run(SPEC, tmp_path, loaded=loaded)["status"] == "done"
    assert load_trained(tmp_path)[0] == SPEC


@pytest.mark.parametrize("name", ["spec.json", "metrics.json"])
@pytest.mark.parametrize("content", ["", "[1, 2]", "{", '"text"'])
def test_damaged_files_of_a_run_are_named(name: str, content: str, loaded: BenchmarkProblem, tmp_path: Path) -> None:
    run(SPEC, tmp_path, loaded=loaded)
    (tmp_path / name).write_text(content)
    with pytest.raises(FileError, match=name):
        run(SPEC, tmp_path, loaded=loaded)
    assert (tmp_path / name).read_text() == content


def test_what_a_killed_write_left_behind_is_removed(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    (tmp_path / ".checkpoint.safetensors.0a1b2c3d.tmp").write_bytes(b"half")
    (tmp_path / "mine.tmp").write_bytes(b"not ours")
    run(SPEC, tmp_path, loaded=loaded)
    assert [path.name for path in tmp_path.glob("*.tmp")] == ["mine.tmp"]


def test_one_process_at_a_time_works_in_a_folder(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text("another process has begun")
    with try_lock(tmp_path / ".lock"), pytest.raises(FileError, match="another process is at work in"):
        run(SPEC, tmp_path, loaded=loaded)
    assert (tmp_path / "spec.json").read_text() == "another process has begun"
    assert run(SPEC, tmp_path, loaded=loaded)["status"] == "done"


def test_the_policy_for_failures_is_an_option_of_every_problem() -> None:
    assert load("synthetic-knapsack-60", days=30, on_failure="skip").problem.on_failure == "skip"
    with pytest.raises(InputError, match=r"'on_failure' .* must be one of raise, cache, skip, got 'ignore'"):
        load("synthetic-knapsack-60", days=30, on_failure="ignore")


def test_a_wrong_setting_is_refused_before_anything_is_solved_or_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regretless.runs.training_run.load", lambda *_, **__: pytest.fail("a problem was loaded"))
    with pytest.raises(InputError, match="p_solve"):
        run(replace(SPEC, settings={"p_solve": 2.0}), tmp_path / "a" / "run")
    assert not list(tmp_path.iterdir())


def test_what_only_the_problem_can_refuse_leaves_nothing_behind(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="patience needs validation data"):
        run(replace(SPEC, patience=2), tmp_path / "a" / "run", loaded=replace(loaded, validation=None))
    spec, bare = replace(SPEC, settings={"bound": "own"}), Problem(loaded.problem.model, sense="max")
    with pytest.raises(InputError, match="its own bound"):
        run(spec, tmp_path / "a" / "run", loaded=replace(loaded, problem=bare))
    assert not list(tmp_path.iterdir())


def test_files_that_were_there_before_a_failed_run_stay(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="patience"):
        run(replace(SPEC, patience=2), tmp_path / "run", loaded=replace(loaded, validation=None))
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["notes.txt"]


# tests/robustness/test_ledger.py has the ledger of more methods in the fast suite.
FEW = ("two-stage", "spo", "map-dc", "direct", "auto")


@pytest.mark.parametrize(
    "method", [pytest.param(name, marks=[pytest.mark.slow] * (name not in FEW)) for name in methods.names()]
)
def test_the_ledger_adds_up_to_what_the_oracle_counted(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if method == "direct":
        pytest.importorskip("cma")
    counted = [0]
    solve = KnapsackOracle.solve

    def counting(self: KnapsackOracle, costs: Tensor, *rest: Any, **more: Any) -> Any:
        counted[0] += len(costs)
        return solve(self, costs, *rest, **more)

    monkeypatch.setattr(KnapsackOracle, "solve", counting)
    few = {"direct": {"generations": 2, "population": 3}, "auto": {"methods": "map-dc", "folds": 2}}
    stopped = {} if method == "auto" else {"patience": 1}
    figures = run(replace(SPEC, method=method, settings=few.get(method, {}), **stopped), tmp_path, progress=False)
    solves = {purpose: count["solves"] for purpose, count in figures["ledger"].items()}
    relaxed = figures["solves"] if method == "spo-relax" else 0  # linear programs, which the oracle does not solve
    assert sum(solves.values()) == counted[0] + relaxed
    # A search that keeps two-stage has nothing to compare it with.
    models = 2 if figures.get("chosen", "two-stage") != "two-stage" else 1
    assert (solves["labels"], solves["evaluation"]) == (30, 7 * models)
    assert (solves["watching"] > 0) == (method != "auto")


def test_ledger_of_an_interrupted_search_counts_the_scores_before(
    loaded: BenchmarkProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regretless.begun_solves.WORTH", 0.0)
    search = replace(SPEC, method="auto", epochs=2, settings={"methods": "map-dc", "folds": 2})
    with monkeypatch.context() as patch:
        patch.setattr("regretless.runs.training_run.evaluate_instances", None)
        with pytest.raises(TypeError):
            run(search, tmp_path / "a", loaded=loaded, progress=False)
    resumed, whole = (run(search, tmp_path / name, loaded=loaded, progress=False) for name in ("a", "b"))
    for purpose in ("growth", "scoring"):
        assert resumed["ledger"][purpose]["solves"] == whole["ledger"][purpose]["solves"] > 0


def interrupted(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


def test_an_interrupted_run_stays_as_it_is_where_the_data_have_changed(
    loaded: BenchmarkProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("regretless.runs.training_run.evaluate_instances", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(SPEC, tmp_path, loaded=loaded, progress=False)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    longer = replace(SPEC, epochs=2)
    with pytest.raises(FileError, match="The data have changed since"):
        run(longer, tmp_path, loaded=replace(loaded, train=loaded.train[:-1]), progress=False)
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == before
    run(longer, tmp_path, loaded=loaded, progress=False)
    assert load_trained(tmp_path)[0] == longer


def test_ledger_and_seconds_of_an_interrupted_run_count_the_epochs_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("regretless.runs.training_run.evaluate_instances", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(replace(SPEC, epochs=2), tmp_path / "a", progress=False)
    # A clock that stands still: no time passes in the process that continues.
    monkeypatch.setattr("regretless.runs.training_run.time", SimpleNamespace(perf_counter=lambda: 0.0))
    figures = [run(replace(SPEC, epochs=5), tmp_path / name, progress=False) for name in ("a", "b")]
    assert figures[0]["train_seconds"] == pytest.approx(5 * figures[0]["epoch_seconds"])
    ledgers = [one["ledger"] for one in figures]
    resumed, whole = ({purpose: count["solves"] for purpose, count in one.items()} for one in ledgers)
    assert resumed == whole
    assert whole["watching"] == 5 * 7
