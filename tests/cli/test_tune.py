from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regretless.cli.tune import train_command
from regretless.runs import Spec, tune
from regretless.runs.trials import LOG
from regretless.runs.tune import Tuned

from .files import ITEMS, CommandLine, Files, write_csv

pytest.importorskip("optuna")


def test_a_search_prints_the_train_command_that_repeats_its_best(cli: CommandLine, files: Files) -> None:
    words = [
        "tune", *files.words()[1:2], "--cost-variables", "x_*", "--features", files.x, "--costs", files.c,
        "--validation", 0.2, "--test", 0.2, "--method", "blackbox-cache", "--trials", 3, "--most-epochs", 4,
        "--out", files.folder / "search",
    ]  # fmt: skip
    found = cli.ok(*words, "--json").json
    assert found["trials"] == 3
    assert 0.01 <= found["best"]["settings"]["lambda_"] <= 1000
    command = shlex.split(found["command"])
    assert command[:2] == ["regretless", "train"]
    run = files.folder / "best run"
    cli.ok(*command[1:-1], run)
    again = cli.ok("evaluate", run, "--on", "validation", "--json").json
    assert again["regret"] == pytest.approx(found["validation_regret"])
    assert json.loads((files.folder / "search" / "best.json").read_text())["trials"] == 3
    printed = cli.ok(*words).out
    assert "best of 3 settings" in printed
    assert "regretless train" in printed


def test_data_without_validation_are_refused(cli: CommandLine, files: Files) -> None:
    words = ["--features", files.x, "--costs", files.c, "--cost-variables", "x_*", "--test", 0.2]
    error = cli("tune", files.model, *words, "--out", files.folder / "search").error
    assert "no validation data to tune on" in error
    assert not (files.folder / "search").exists()


def with_validation(files: Files, *more: object) -> list[object]:
    words = ["--features", files.x, "--costs", files.c, "--cost-variables", "x_*", "--validation", 0.2]
    return ["tune", files.model, *words, "--out", files.folder / "search", *more]


def test_a_users_own_files_are_never_overwritten(cli: CommandLine, files: Files) -> None:
    (files.folder / "best.json").write_text("mine")
    error = cli(*with_validation(files, "--out", files.folder)).error
    assert "is no search, and a search would overwrite best.json there: choose another folder" in error
    assert (files.folder / "best.json").read_text() == "mine"


def test_auto_is_not_tuned_and_not_offered(cli: CommandLine, files: Files) -> None:
    error = cli(*with_validation(files, "--method", "auto")).error
    assert "method 'auto' needs no tuning" in error
    assert re.findall(r"\bauto\b[\s│,.]+(\w*)", cli.ok("tune", "--help").out) == ["tries"]  # of --model
    assert not (files.folder / "search").exists()


def test_a_fixed_p_solve_is_not_searched(cli: CommandLine, files: Files) -> None:
    for fixed in (("--p-solve", 0.3), ("--set", "p_solve=0.3")):
        assert (
            "leave out one of --with-p-solve, --p-solve" in cli(*with_validation(files, "--with-p-solve", *fixed)).error
        )
    assert not (files.folder / "search").exists()


@pytest.mark.parametrize("ended", [0, 2])
def test_an_interrupted_search_says_what_is_kept(
    ended: int, cli: CommandLine, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, score = [], tune._validation_regret

    def interrupted(*given: Any) -> float:
        if len(done) == ended:
            raise KeyboardInterrupt("training ended after epoch 1; nothing was kept (no checkpoint was requested)")
        done.append(score(*given))
        return done[-1]

    monkeypatch.setattr(tune, "_validation_regret", interrupted)
    words = with_validation(files, "--trials", 3, "--most-epochs", 2)
    result = cli(*words)
    assert result.code == 130
    if ended:
        assert "the trials that ended are kept in" in result.err
        assert "the same command continues" in result.err
    else:
        assert "before a trial had ended: nothing was kept" in result.err
    assert (files.folder / "search" / LOG).exists() == bool(ended)
    monkeypatch.setattr(tune, "_validation_regret", score)
    assert cli.ok(*words, "--json").json["trials"] == 3


def test_the_train_command_has_the_options_of_the_command_line(cli: CommandLine, files: Files) -> None:
    folder = files.folder
    rows = [[f"d{i}", i % 3, 5 + i % 2] for i in range(40)]
    x = write_csv(folder / "x2.csv", ["day", "code", "a"], rows)
    c = write_csv(folder / "c2.csv", ["day", *ITEMS], [[f"d{i}", *row] for i, row in enumerate(files.costs.tolist())])
    r = write_csv(folder / "r.csv", ["day", "row:weight"], [[row[0], row[2]] for row in rows])
    words = ["--features", x, "--costs", c, "--constraints", r, "--id", "day", "--categories", "code"]
    words += ["--missing", "fill", "--unseen", "other", "--engine", "highs", "--split", "random", "--validation", 0.2]
    words += ["--gap", 0.5]
    search = ["--cost-variables", "x_*", "--trials", 1, "--most-epochs", 2, "--out", folder / "search", "--json"]
    command = cli.ok("tune", files.model, *words, *search).json["command"]
    assert "--option" not in command
    for word, value in zip(words[::2], words[1::2], strict=True):
        assert f"{word} {value}" in command
    cli.ok(*shlex.split(command)[1:-1], folder / "run")


def test_options_of_a_problem_by_name_stay_options_of_the_problem() -> None:
    command = train_command(Spec("workshop", "map-dc", options={"days": 30, "engine": "highs"}))
    assert "--option days=30 --engine highs" in command


@pytest.mark.parametrize(("method", "searched"), [("soft", {"temperature": 0.7}), ("interior", {"cutoff": 0.2})])
def test_default_settings_of_train_that_are_not_searched_hold_in_the_search_as_well(
    method: str, searched: dict[str, float], cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Spec] = []

    def search(spec: Spec, *_: Any, **__: Any) -> Tuned:
        given.append(spec)
        return Tuned(replace(spec, settings=spec.settings | searched), 1.0, 1, 0)

    def run(spec: Spec, *_: Any, **__: Any) -> dict[str, Any]:
        given.append(spec)
        return {}

    monkeypatch.setattr("regretless.cli.tune.tune_settings", search)
    monkeypatch.setattr("regretless.cli.train.run", run)
    command = cli.ok("tune", "knapsack-60", "--method", method, "--out", tmp_path / "search", "--json").json["command"]
    cli.ok(*shlex.split(command)[1:-1], tmp_path / "run", "--json")
    tuned, trained = given
    assert not set(searched) & set(tuned.settings)
    assert trained.settings == tuned.settings | searched
