from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from regretless.data import Dataset
from regretless.errors import FileError, InputError, TrainingError
from regretless.problems import BenchmarkProblem, load
from regretless.runs import Spec
from regretless.runs import tune as module
from regretless.runs.run_lock import try_lock
from regretless.runs.tune import searched, tune_settings

pytest.importorskip("optuna")
SPEC = Spec("synthetic-knapsack-60", "blackbox-cache", options={"days": 40})


@pytest.fixture(scope="module")
def loaded() -> BenchmarkProblem:
    return load(SPEC.problem, **SPEC.options)


def search(loaded: BenchmarkProblem, folder: Path, trials: int, **settings: Any) -> Any:
    spec = settings.pop("spec", SPEC)
    return tune_settings(spec, folder, loaded=loaded, trials=trials, most_epochs=3, progress=False, **settings)


def test_the_best_settings_are_those_with_the_lowest_validation_regret(
    loaded: BenchmarkProblem, tmp_path: Path
) -> None:
    found = search(loaded, tmp_path, 4)
    assert found.trials == 4
    assert found.regret == module._validation_regret(found.spec, loaded)
    best = json.loads((tmp_path / "best.json").read_text())
    assert Spec.from_dict(best["spec"]) == found.spec


def test_a_trial_trains_with_the_settings_that_it_suggests(
    loaded: BenchmarkProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, Any]] = []

    def train(*_: Any, **settings: Any) -> Any:
        given.append(settings)
        return module_train(*_, **settings)

    module_train = module.train
    monkeypatch.setattr(module, "train", train)
    spec = dataclasses.replace(SPEC, seed=3, epochs=1, lr=0.25, settings={"lambda_": 7.0, "p_solve": 0.0})
    for batch_size in (16, None):
        module._validation_regret(dataclasses.replace(spec, batch_size=batch_size), loaded)
        kept = {"seed": 3, "epochs": 1, "lr": 0.25, "batch_size": batch_size or loaded.batch_size}
        assert given[-1] == kept | spec.settings | {"method": spec.method, "progress": False}


def test_a_search_that_was_stopped_goes_on_as_if_it_had_not_been(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    whole = search(loaded, tmp_path / "whole", 4)
    search(loaded, tmp_path / "parts", 2)
    assert search(loaded, tmp_path / "parts", 4) == whole
    assert search(loaded, tmp_path / "parts", 3) == whole  # more are there already: nothing is done


def test_test_data_are_never_looked_at(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    class Forbidden:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"test data were asked for {name}")

    blind = dataclasses.replace(loaded, test=Forbidden())  # type: ignore[arg-type]
    assert search(blind, tmp_path / "blind", 2) == search(loaded, tmp_path / "open", 2)


def test_data_without_validation_are_refused(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no validation data to tune on"):
        search(dataclasses.replace(loaded, validation=None), tmp_path / "none", 1)
    assert not (tmp_path / "none").exists()


def test_another_search_in_the_folder_is_left_alone(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    search(loaded, tmp_path, 1)
    before = (tmp_path / "trials.log").read_bytes()
    with pytest.raises(FileError, match="holds another search"):
        search(loaded, tmp_path, 1, spec=dataclasses.replace(SPEC, seed=1))
    assert (tmp_path / "trials.log").read_bytes() == before


def test_a_search_on_data_that_have_changed_is_refused_and_left_alone(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    search(loaded, tmp_path, 1)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for part in ("train", "validation"):
        data = getattr(loaded, part)
        other = dataclasses.replace(loaded, **{part: dataclasses.replace(data, costs=data.costs + 1.0)})
        with pytest.raises(FileError, match=r"holds a search on other data\. The data have changed since: restore"):
            search(other, tmp_path, 2)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    kept = json.loads((tmp_path / "search.json").read_text())
    del kept["data"]  # as in a search of version 0.1
    (tmp_path / "search.json").write_text(json.dumps(kept))
    assert search(loaded, tmp_path, 2).trials == 2


def test_a_damaged_log_is_named(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    search(loaded, tmp_path, 1)
    (tmp_path / "trials.log").write_text("nonsense\n")
    with pytest.raises(FileError, match=r"trials\.log is damaged"):
        search(loaded, tmp_path, 1)


def test_a_folder_that_another_process_works_in_is_refused_and_left_alone(
    loaded: BenchmarkProblem, tmp_path: Path
) -> None:
    with try_lock(tmp_path / ".lock"), pytest.raises(FileError, match="another process is at work"):
        search(loaded, tmp_path, 1)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_folder_that_vanishes_is_named(
    loaded: BenchmarkProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanishes(*_: Any) -> float:
        shutil.rmtree(tmp_path / "search")
        return 1.0

    monkeypatch.setattr(module, "_validation_regret", vanishes)
    with pytest.raises(FileError, match=r"cannot write .*trials\.log: No such file"):
        search(loaded, tmp_path / "search", 2)


@pytest.mark.parametrize("there", [False, True])
def test_a_search_that_is_interrupted_before_a_trial_has_ended_leaves_nothing_behind(
    loaded: BenchmarkProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    def interrupted(*_: Any) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_validation_regret", interrupted)
    if there:
        (tmp_path / "search").mkdir()
    with pytest.raises(KeyboardInterrupt):
        search(loaded, tmp_path / "search", 2)
    assert list(tmp_path.rglob("*")) == [tmp_path / "search"] * there


def test_only_settings_worth_a_search_are_varied() -> None:
    assert set(searched("map-dc")) == set()
    assert set(searched("map-dc", with_p_solve=True)) == {"p_solve"}
    assert set(searched("spo", with_p_solve=True)) == set()
    assert set(searched("blackbox-cache")) == {"lambda_"}


def test_what_was_given_by_hand_stays(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    fixed = dataclasses.replace(SPEC, settings={"lambda_": 20.0, "p_solve": 0.5})
    assert search(loaded, tmp_path, 1, spec=fixed).spec.settings == fixed.settings
    with pytest.raises(InputError, match=r"with_p_solve searches p_solve.*: leave out one of"):
        search(loaded, tmp_path / "other", 1, spec=fixed, with_p_solve=True)


def test_training_that_diverges_is_counted_and_not_chosen(
    loaded: BenchmarkProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverges(spec: Spec, _: BenchmarkProblem) -> float:
        if spec.lr > 0.05:
            raise TrainingError("too fast")
        return spec.lr

    monkeypatch.setattr(module, "_validation_regret", diverges)
    found = search(loaded, tmp_path / "some", 8)
    assert 0 < found.failed < 8
    assert found.spec.lr <= 0.05
    monkeypatch.setattr(module, "_validation_regret", lambda *_: diverges(dataclasses.replace(SPEC, lr=1.0), loaded))
    with pytest.raises(FileError, match="every trial"):
        search(loaded, tmp_path / "none", 1)


def test_a_direct_search_is_tuned_by_its_own_settings(loaded: BenchmarkProblem, tmp_path: Path) -> None:
    pytest.importorskip("cma")
    few = dataclasses.replace(loaded, train=loaded.train[:4])
    assert isinstance(few.train, Dataset)
    found = search(few, tmp_path, 1, spec=Spec(SPEC.problem, "direct", options=SPEC.options))
    assert 0.05 <= found.spec.settings["sigma"] <= 2.0
    assert torch.isfinite(torch.tensor(found.regret))


@pytest.mark.parametrize("here", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_rounds_of_trials_are_continued_as_if_they_had_not_been_stopped(
    loaded: BenchmarkProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: bool
) -> None:
    if here:  # threads in place of processes, which take seconds to start
        run = module.Execution
        monkeypatch.setattr(module, "Execution", lambda name, work, **how: run("threads", work, workers=1, limit=None))

    def tried(folder: Path) -> list[dict[str, float]]:
        lines = [json.loads(line) for line in (folder / "trials.log").read_text().splitlines()]
        return [line["params"] | {"value": line["values"]} for line in lines if "params" in line]

    three = search(loaded, tmp_path / "long", 3, executor="processes", workers=2)
    search(loaded, tmp_path / "short", 1, executor="processes", workers=2)
    again = search(loaded, tmp_path / "short", 3, executor="processes", workers=2)  # from the middle of a round
    assert (again.spec, again.regret) == (three.spec, three.regret)
    assert tried(tmp_path / "short") == tried(tmp_path / "long")
    assert three.ledger["growth"]["solves"] > 0
    with pytest.raises(FileError, match="another search"):
        search(loaded, tmp_path / "long", 4)
