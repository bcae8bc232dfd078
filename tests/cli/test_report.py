from __future__ import annotations

from pathlib import Path

from .files import CommandLine, Files


def test_a_run_on_files_becomes_a_page(cli: CommandLine, trained_files: Files, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert cli.ok("report", trained_files.folder / "run", "--out", out).out.strip() == str(out)
    page = out.read_text(encoding="utf-8")
    assert "knapsack.lp" in page
    assert "map-dc" in page


def test_a_folder_that_is_not_there_is_named(cli: CommandLine, tmp_path: Path) -> None:
    assert "is no folder of results" in cli("report", tmp_path / "none").error
