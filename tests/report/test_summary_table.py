from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from regretless.report import read_folder, write
from regretless.report.groups import sections
from regretless.report.sortable_table import Cell
from regretless.report.summary_table import solves_table, summary_table

from .conftest import MakeRun


def cells(results: Path) -> dict[str, list[Cell]]:
    """The cells of each column."""
    (section,) = sections(read_folder(results).runs)
    table = summary_table(section)
    return {column.title: [row[k] for row in table.rows] for k, column in enumerate(table.columns)}


def best(results: Path) -> set[str]:
    return {cell.text for column in cells(results).values() for cell in column if cell.best}


def test_the_lowest_regret_is_marked_as_best(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"regret": 500.0, "mse": 9.0})
    make_run("map-dc", metrics={"regret": 400.0, "mse": 10.0})
    assert {"400.0", "9.00"} <= best(tmp_path / "results")


def test_the_highest_auc_is_marked_as_best(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"auc": 0.6})
    make_run("map-dc", metrics={"auc": 0.7})
    assert "0.700" in best(tmp_path / "results")


def test_counts_are_neither_good_nor_bad(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"solves": 10, "lookups": 3, "cache_size": 7})
    make_run("map-dc", metrics={"solves": 20, "lookups": 4, "cache_size": 8})
    found = cells(tmp_path / "results")
    assert [cell.text for cell in found["cache size"]] == ["7", "8"]
    assert not any(cell.best for title in ("solver calls", "look-ups", "cache size") for cell in found[title])


def test_columns_without_values_are_left_out(results: Path) -> None:
    assert "AUC" not in cells(results)


def test_several_seeds_show_their_deviation(results: Path) -> None:
    assert [cell.deviation for cell in cells(results)["test regret"]] == ["± 2.1"] * 3


def test_a_repeated_run_is_not_another_seed(tmp_path: Path, make_run: MakeRun) -> None:
    for method in ("spo", "spo", "map-dc"):
        make_run(method)
    make_run("map-dc", seed=1, metrics={"regret": 100.0})
    make_run("map-dc", seed=1, metrics={"regret": 100.0})
    make_run("map-dc", metrics={"regret": 200.0})
    found = cells(tmp_path / "results")
    assert [cell.text for cell in found["seeds"]] == ["1", "2"]
    assert (found["test regret"][1].text, found["test regret"][1].deviation) == ("150.0", "± 70.7")


def test_values_that_read_alike_are_not_better_than_each_other(results: Path) -> None:
    assert "20,000" not in best(results)


def test_one_method_alone_is_not_the_best(make_run: MakeRun) -> None:
    assert best(make_run("spo")) == set()


def test_a_seed_that_diverged_is_said_and_not_best(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"regret": 300.0})
    make_run("spo", seed=1, metrics={"regret": float("nan")})
    make_run("map-dc", metrics={"regret": 400.0})
    make_run("nce-c", metrics={"regret": 500.0})
    assert [cell.warning for cell in cells(tmp_path / "results")["test regret"]] == ["(1 not finite)", "", ""]
    assert "400.0" in best(tmp_path / "results")


def test_variants_have_their_own_column(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", init="shared")
    make_run("spo")
    assert [cell.text for cell in cells(tmp_path / "results")["variant"]] == ["init random", "init shared"]


def test_a_small_deviation_does_not_read_as_zero(tmp_path: Path, make_run: MakeRun) -> None:
    for seed in (0, 1):
        make_run("spo", seed=seed, metrics={"regret": 5000 + 0.01 * seed, "relative_regret": 0.5 + 1e-5 * seed})
    found = cells(tmp_path / "results")
    assert [found[title][0].deviation for title in ("test regret", "relative regret")] == ["± 0.0071", "± 0.0007071 %"]


def test_solver_calls_are_all_exact_solves_of_training(make_run: MakeRun) -> None:
    found = cells(make_run("auto", metrics={"solves": 96, "scoring_solves": 192}))
    assert [found[title][0].text for title in ("solver calls", "scoring calls")] == ["288", "192"]


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
