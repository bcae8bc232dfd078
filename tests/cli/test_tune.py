from __future__ import annotations

import json
import shlex

import pytest

from .files import CommandLine, Files

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
