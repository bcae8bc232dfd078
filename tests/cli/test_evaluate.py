from __future__ import annotations

import json
from pathlib import Path

import pytest

from .files import ITEMS, CommandLine, Files, write_csv


def test_evaluation_repeats_the_figures_of_training(cli: CommandLine, files: Files) -> None:
    cli.ok(*files.words())
    figures = json.loads((files.folder / "run" / "metrics.json").read_text())
    again = cli.ok("evaluate", files.folder / "run", "--json").json
    assert again["regret"] == figures["regret"]
    assert again["ledger"].keys() <= {"labels", "growth", "watching", "scoring", "evaluation", "decisions"}
    assert "test data" in " ".join(cli.ok("evaluate", files.folder / "run").out.split())
    validation = cli.ok("evaluate", files.folder / "run", "--on", "validation", "--json").json
    assert validation["instances"] == 8
    # the run has its own copy of the data
    files.c.write_text("spoiled")
    files.model.unlink()
    after = cli.ok("evaluate", files.folder / "run", "--json").json
    assert after["regret"] == figures["regret"]
    assert after["ledger"]["labels"]["solves"] == 0


def test_files_are_evaluated_when_the_original_ones_are_gone(
    cli: CommandLine, trained_files: Files, tmp_path: Path
) -> None:
    run = trained_files.folder / "run"
    figures = json.loads((run / "metrics.json").read_text())
    x = write_csv(tmp_path / "x.csv", ["b", "a", "c"], trained_files.features[-8:, [1, 0, 2]].tolist())
    c = write_csv(tmp_path / "c.csv", ITEMS, trained_files.costs[-8:].tolist())
    result = cli.ok("evaluate", run, "--features", x, "--costs", c, "--json").json
    assert result["regret"] == pytest.approx(figures["regret"])
    assert result["mse"] == pytest.approx(figures["mse"])
    assert result["on"] == str(x)
    assert cli.ok("evaluate", run, "--json").json["regret"] == pytest.approx(figures["regret"])


def test_parts_that_a_split_does_not_have_are_refused(cli: CommandLine, files: Files) -> None:
    cli.ok(*files.words(test=None))
    assert "has no test data" in cli("evaluate", files.folder / "run").error
    assert "--on must be" in cli("evaluate", files.folder / "run", "--on", "all").error
    assert "go together" in cli("evaluate", files.folder / "run", "--features", files.x).error
    words = ["--features", files.x, "--costs", files.c, "--on", "test"]
    assert "leave it out" in cli("evaluate", files.folder / "run", *words).error


def test_a_folder_without_a_run_is_named(cli: CommandLine, tmp_path: Path) -> None:
    assert "is no run" in cli("evaluate", tmp_path).error
