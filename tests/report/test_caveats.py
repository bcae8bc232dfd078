from __future__ import annotations

import json
from pathlib import Path

from regretless.report import read_folder
from regretless.report.caveats import cautions, without_result

from .conftest import MakeRun


def test_clean_results_need_no_caution(results: Path) -> None:
    assert cautions(read_folder(results)) == []
    assert without_result(read_folder(results).runs) == []


def test_bounds_failed_solves_and_values_that_are_not_finite_are_said(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"not_optimal": 3})
    make_run("map-dc", metrics={"failed": 1})
    make_run("nce-c", metrics={"regret": None})
    make_run("nce-c", seed=1, metrics={"regret": float("inf")})
    bound, failed, lost = cautions(read_folder(tmp_path / "results"))
    assert bound.startswith("1 run has labels that were not solved to optimality")
    assert bound.endswith("only a bound there (spo on synthetic-knapsack-60).")
    assert failed.endswith("left out of the regret (map-dc on synthetic-knapsack-60).")
    assert lost.startswith("2 runs have a regret that is missing or not finite")


def test_runs_without_a_result_are_counted_and_listed(tmp_path: Path, make_run: MakeRun) -> None:
    folder = make_run("spo", finish=False)
    (folder / "failure.json").write_text(json.dumps({"error": "no license"}))
    make_run("spo", seed=1, finish=False)
    data = read_folder(tmp_path / "results")
    assert cautions(data) == ["1 of 2 runs failed.", "1 of 2 runs is not finished."]
    assert [text for _, text in without_result(data.runs)] == [
        "no license", "The run was started and is not finished: the same command continues it.",
    ]  # fmt: skip


def test_remarks_become_sentences(results: Path) -> None:
    (results / "tables").mkdir()
    (results / "tables" / "bad.csv").write_text("")
    assert cautions(read_folder(results)) == ["The file bad.csv is left out: it is empty."]


def test_figures_that_are_not_on_test_data_are_said_to_be_so(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"on": "train"})
    make_run("map-dc", metrics={"on": "test"})
    assert cautions(read_folder(tmp_path / "results")) == [
        "1 run has no test data: figures are on the training data and say little about new data "
        "(spo on synthetic-knapsack-60)."
    ]
