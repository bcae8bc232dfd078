from __future__ import annotations

from pathlib import Path

import pytest

from regretless.cli.demo import DEMOS, DemoProblem, demo_specs

from .files import CommandLine


def row_of(text: str, method: str) -> list[str]:
    """Cells of a printed table's row."""
    lines = [line for line in text.splitlines() if line.startswith(f"│ {method} ")]
    assert len(lines) == 1, text
    return [cell.strip() for cell in lines[0].strip("│").split("│")]


@pytest.mark.slow
def test_the_demo_shows_what_caching_saves(cli: CommandLine, tmp_path: Path) -> None:
    summary = cli.ok("demo", "--out", tmp_path / "demo", "--json").json
    figures = summary["methods"]
    assert list(figures) == ["two-stage", "spo", "spo-cache", "map-dc", "auto"]
    spo, cached = figures["spo"], figures["spo-cache"]
    assert cached["regret"] <= 1.03 * spo["regret"]
    assert cached["solves"] < spo["solves"] / 20
    assert figures["auto"]["regret"] == min(row["regret"] for row in figures.values())
    assert figures["two-stage"]["reason"] == "ridge regression in closed form"
    assert Path(summary["report"]).is_file()

    again = cli.ok("demo", "--out", tmp_path / "demo").out
    solves = figures["auto"]["solves"] + figures["auto"]["scoring_solves"]
    assert row_of(again, "auto")[3] == str(solves)
    assert "solves: labels" in again
    assert "report:" in again


@pytest.mark.slow
def test_the_knapsack_demo_prints_the_same_figures_as_version_01(cli: CommandLine, tmp_path: Path) -> None:
    printed = cli.ok("demo", "--problem", "knapsack", "--out", tmp_path / "demo").out
    expected = {"two-stage": "1,177", "spo": "745.4", "spo-cache": "770", "nce-c": "943.7", "map-dc": "747.3"}
    assert {method: row_of(printed, method)[1] for method in expected} == expected


@pytest.mark.parametrize("problem", DEMOS)
def test_every_demo_compares_methods_on_one_problem(problem: DemoProblem) -> None:
    (name, changes), specs = DEMOS[problem], demo_specs(problem, seed=3)
    assert [spec.method for spec in specs] == list(changes)
    assert {(spec.problem, spec.seed) for spec in specs} == {(name, 3)}


def test_a_folder_that_cannot_be_written_is_refused(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert "is not a writable folder; choose another --out" in cli("demo", "--out", tmp_path / "file" / "demo").error
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_problem_that_is_no_demo_is_refused(cli: CommandLine, tmp_path: Path) -> None:
    assert cli("demo", "--problem", "matching", "--out", tmp_path / "demo").code == 2
    assert not (tmp_path / "demo").exists()


def test_a_users_own_report_is_not_overwritten(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("mine")
    assert "is no demo, and a demo would overwrite report.html there" in cli("demo", "--out", tmp_path).error
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
