from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from regretless.cli import suite as module
from regretless.runs import Spec
from regretless.runs.results import Result
from regretless.suite.leaderboard import make_leaderboard

from .files import CommandLine

WORDS = ("suite", "--problems", "top-k", "--methods", "two-stage,map-dc", "--seeds", "1")
LEDGER = {name: {"solves": 7, "seconds": 0.0} for name in ("labels", "growth", "watching", "scoring", "evaluation")}


class Done:
    """In place of the runs: every one has a relative regret of 10 %, or the first one has failed."""

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails
        self.specs: list[Spec] = []

    def __call__(self, specs: list[Spec], out: Path, **how: Any) -> Any:
        self.specs, self.how = specs, how
        figures = {"relative_regret": 0.1, "train_seconds": 1.0, "ledger": LEDGER}
        found = [Result(spec, out, "done", figures) for spec in specs]
        if self.fails:
            found[0] = Result(specs[0], out, "failed", error="no memory")
        return make_leaderboard(found)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Done:
    made = Done()
    monkeypatch.setattr(module, "run_suite", made)
    return made


def test_the_leaderboard_is_printed_and_its_file_named(cli: CommandLine, done: Done, tmp_path: Path) -> None:
    printed = cli.ok(*WORDS, "--workers", 3, "--out", tmp_path).out
    assert "map-dc" in printed
    assert f"leaderboard: {tmp_path / 'leaderboard.md'}" in printed
    assert done.how["workers"] == 3


def test_the_same_as_data(cli: CommandLine, done: Done, tmp_path: Path) -> None:
    found = cli.ok(*WORDS, "--out", tmp_path, "--json").json
    assert found["folder"] == str(tmp_path)
    assert {row["method"] for row in found["methods"]} == {"two-stage", "map-dc"}


def test_both_starts_do_two_stage_once(cli: CommandLine, done: Done, tmp_path: Path) -> None:
    cli.ok(*WORDS, "--start", "both", "--out", tmp_path)
    cells = {spec.options.get("train") for spec in done.specs}
    two_stage = [spec for spec in done.specs if spec.method == "two-stage"]
    assert len(done.specs) == 3 * len(cells)
    assert len(two_stage) == len(cells)


def test_failed_runs_are_named_and_the_command_fails(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "run_suite", Done(fails=True))
    result = cli(*WORDS, "--out", tmp_path)
    assert result.code == 1
    assert "failed: " in result.out
    assert "no memory" in result.out


def test_a_users_own_files_are_never_overwritten(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "leaderboard.csv").write_text("mine")
    result = cli(*WORDS, "--out", tmp_path)
    assert result.code == 1
    assert "would overwrite leaderboard.csv there: choose another folder" in result.error
    assert [path.name for path in tmp_path.iterdir()] == ["leaderboard.csv"]
