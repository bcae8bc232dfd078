from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from regretless.cli.reproduce import reproduce
from regretless.errors import FileError, InputError
from tests import runs_here

pytest.importorskip("matplotlib")
app = typer.Typer(pretty_exceptions_enable=False)
app.command()(reproduce)
METHODS = "two-stage,map-dc"
RUNS = 6  # two problems, and the sweep of map-dc
SMALL = ["smoke", "--methods", METHODS, "--seeds", "1", "--epochs", "1", "--workers", "1"]


def run(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_smoke_reproduction_goes_from_embedded_data_to_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = run(*SMALL, "--out", str(tmp_path))
    assert "Smoke test: all methods" in printed
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == RUNS
    assert {row["status"] for row in rows} == {"done"}
    assert len(list((tmp_path / "runs").iterdir())) == RUNS
    assert {path.suffix for path in (tmp_path / "tables").iterdir()} == {".csv", ".md", ".tex", ".json"}
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg", ".png", ".json"}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "synthetic-knapsack-60" in page
    # The same once more, as data: nothing is run again, and nothing needs to be drawn again.
    monkeypatch.setattr("regretless.paper.reproduce.write_figures", lambda *_: [])
    monkeypatch.setattr("regretless.cli.reproduce.write", lambda *_: tmp_path / "report.html")
    summary = json.loads(run(*SMALL, "--out", str(tmp_path), "--json"))
    assert (summary["runs"], summary["failed"]) == (RUNS, [])
    assert {row["method"] for row in summary["tables"]["q1-smoke"] if row["seeds"]} == set(METHODS.split(","))


def test_times_of_the_generic_engine_become_ratios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs_here.install(monkeypatch)
    monkeypatch.setattr("regretless.paper.reproduce.write_figures", lambda *_: [])
    monkeypatch.setattr("regretless.cli.reproduce.write", lambda *_: tmp_path / "report.html")
    summary = json.loads(
        run(
            "smoke",
            "--engine",
            "highs",
            "--methods",
            "spo,spo-cache",
            "--workers",
            "1",
            "--out",
            str(tmp_path),
            "--json",
        )
    )
    rows = [row for row in summary["tables"]["caching-time-smoke"] if row["cached"] == "spo-cache"]
    assert [row["engine"] for row in rows] == ["highs", "highs"]
    assert all(row["ratio"] < 1 for row in rows)


@pytest.mark.parametrize("wrong", [["tsp"], ["smoke", "--methods", "magic"], ["smoke", "--engine", "magic"]])
def test_unknown_words_are_refused_before_anything_is_run(wrong: list[str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must be one of|are"):
        CliRunner().invoke(app, [*wrong, "--out", str(tmp_path)], catch_exceptions=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["results.csv", "report.html", "tables"])
def test_a_users_own_files_are_never_overwritten(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    with pytest.raises(FileError, match=f"is no grid of runs, and a grid of runs would overwrite {name} there"):
        run(*SMALL, "--out", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == [name]
