from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from regretless.report import read_folder, write
from regretless.report.groups import sections
from regretless.report.solves_table import solves_table

from .conftest import MakeRun


def ledger(**solves: int) -> dict[str, Any]:
    return {"ledger": {purpose: {"solves": n, "seconds": n / 100} for purpose, n in solves.items()}}


def texts(results: Path) -> list[list[str]]:
    (section,) = sections(read_folder(results).runs)
    table = solves_table(section)
    assert table is not None
    return [[column.title for column in table.columns], *([cell.text for cell in row] for row in table.rows)]


def test_every_purpose_with_a_solve_has_a_column_with_the_mean_over_the_seeds(
    tmp_path: Path, make_run: MakeRun
) -> None:
    make_run("spo", seed=0, metrics=ledger(labels=1200, growth=10, watching=0))
    make_run("spo", seed=1, metrics=ledger(labels=1200, growth=20, watching=0))
    make_run("two-stage", metrics=ledger(labels=1200, evaluation=7))
    assert texts(tmp_path / "results") == [
        ["method", "labels", "growth", "evaluation"], ["two-stage", "1,200", "0", "7"], ["spo", "1,200", "15", "0"],
    ]  # fmt: skip
    write(tmp_path / "results", tmp_path / "report.html")
    assert "Exact solves by purpose" in (tmp_path / "report.html").read_text()


def test_runs_without_a_ledger_have_no_table(results: Path) -> None:
    (section,) = sections(read_folder(results).runs)
    assert solves_table(section) is None


@pytest.mark.parametrize("damaged", [[], "x", {"labels": 3}, {"labels": {"solves": "many", "seconds": float("nan")}}])
def test_a_damaged_ledger_counts_as_none(damaged: Any, tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"ledger": damaged})
    (section,) = sections(read_folder(tmp_path / "results").runs)
    assert solves_table(section) is None
