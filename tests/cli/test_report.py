from __future__ import annotations

import re
from pathlib import Path

import pytest

from .files import CommandLine, Files


def test_a_run_on_files_becomes_a_page(cli: CommandLine, trained_files: Files, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert cli.ok("report", trained_files.folder / "run", "--out", out).out.strip() == str(out)
    page = out.read_text(encoding="utf-8")
    assert "knapsack.lp" in page
    assert "map-dc" in page


def test_the_heading_of_a_run_on_files_is_words(cli: CommandLine, trained_files: Files, tmp_path: Path) -> None:
    cli.ok("report", trained_files.folder / "run", "--out", tmp_path / "page.html")
    (heading,) = re.findall("<h2>(knapsack.lp.*?)</h2>", (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert heading.startswith("knapsack.lp with features ")
    assert str(trained_files.folder) not in heading
    assert not set(heading) & set("[]{}'\"")


def test_a_page_never_replaces_a_table(cli: CommandLine, trained_files: Files, tmp_path: Path) -> None:
    table = tmp_path / "x.csv"
    table.write_text("a,b\n1,2\n")
    result = cli("report", trained_files.folder / "run", "--out", table)
    assert result.code == 2
    assert "must end in .html" in result.error
    assert table.read_text() == "a,b\n1,2\n"


def test_a_folder_that_is_not_there_is_named(cli: CommandLine, tmp_path: Path) -> None:
    assert "none is not a folder of results" in cli("report", tmp_path / "none").error


def test_an_empty_folder_is_an_error_and_stays_empty(cli: CommandLine, tmp_path: Path) -> None:
    result = cli("report", tmp_path)
    assert result.code == 1
    assert "holds no runs, tables or figures to report: make results with: regretless demo" in result.error
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_in_a_late_import_of_a_compiled_module_is_an_interruption(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def importing(*_: object) -> None:
        raise ImportError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr("regretless.cli.report.write", importing)
    result = cli("report", tmp_path)
    assert (result.code, result.out, result.err) == (130, "", "interrupted\n")
