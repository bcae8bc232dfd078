from __future__ import annotations

import os
import runpy
import subprocess
import sys

import pytest

from regretless import __version__
from regretless.cli import main
from regretless.cli.app import COMMANDS, load_command
from regretless.solvers import threads

from .files import CommandLine


def test_help_lists_every_command(cli: CommandLine) -> None:
    printed = cli.ok("--help").out
    assert all(f" {command} " in printed for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, cli: CommandLine) -> None:
    assert "--help" in cli.ok(command, "--help").out
    assert (load_command(command).help or "").splitlines()[0] == COMMANDS[command]


def test_a_misspelled_command_gets_a_suggestion(cli: CommandLine) -> None:
    assert "Did you mean 'train'" in cli("trian").error


def test_help_and_version_do_without_torch() -> None:
    # Every import is a line on standard error.
    for words in (["--help"], ["--version"], ["conquer"]):
        command = [sys.executable, "-X", "importtime", "-m", "regretless", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == (2 if words == ["conquer"] else 0)
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "typer" in imported
        assert "torch" not in imported


def test_the_version_is_shown(cli: CommandLine) -> None:
    assert cli.ok("--version").out == f"regretless {__version__}\n"


@pytest.mark.parametrize(
    "words", [["conquer"], ["train"], ["evaluate", "run", "--nonsense"], ["demo", "--seed", "many"], ["data", "burn"]]
)
def test_wrong_usage_is_one_line_and_ends_with_code_two(words: list[str], cli: CommandLine) -> None:
    result = cli(*words)
    assert result.code == 2
    assert result.error


@pytest.mark.parametrize("words", [[], ["data"]])
def test_a_missing_command_shows_the_help(words: list[str], cli: CommandLine) -> None:
    result = cli(*words)
    assert "Commands" in result.out + result.err
    assert "error" not in result.err


# The test of the help starts the module in processes of their own.
def test_the_module_runs_and_fails_as_the_command_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["regretless", "train", "tsp", "--out", "nowhere"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("regretless", run_name="__main__", alter_sys=True)
    assert end.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert printed.err.startswith("error: problem must be one of synthetic-knapsack-60")


def test_an_engine_at_work_ends_the_process_of_the_command_line_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    monkeypatch.setattr(threads, "at_work", lambda: True)
    monkeypatch.setattr(os, "_exit", ended.append)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert ended == [], "a program that calls the function goes on"
    monkeypatch.setattr(sys, "argv", ["regretless", "--version"])
    with pytest.raises(SystemExit):
        main()
    assert ended == [0]
