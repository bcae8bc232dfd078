from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from regretless.report import read_folder
from regretless.report.findings import cautions, finding, without_result
from regretless.report.groups import sections
from regretless.report.page import templates
from regretless.report.sortable_table import SortableTable
from regretless.report.summary_table import summary_table

from .conftest import MakeRun


def words(results: Path) -> str:
    """The sentences, as the page writes them."""
    (section,) = sections(read_folder(results).runs)
    problem = {"finding": finding(section), "table": SortableTable("", [], []), "charts": [], "anchor": "", "label": ""}
    problem |= {"solves": None}
    page = templates().get_template("problem.html").render(problem=problem)
    found = re.search('<p class="finding">(.*?)</p>', page, re.DOTALL)
    return " ".join(re.sub("<[^>]*>", "", found[1]).replace("&nbsp;", " ").split()) if found else ""


def test_best_method_saving_and_baseline_are_named(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("two-stage", metrics={"regret": 1000.0, "solves": 0})
    make_run("spo", metrics={"regret": 800.0, "solves": 10000})
    make_run("map-dc", metrics={"regret": 808.0, "solves": 500})
    text = words(tmp_path / "results")
    assert text.startswith("spo has the lowest test regret, 800.0: 20 % below the 1,000.0 of two-stage. ")
    assert "map-dc is within 1 % of it with 20.0 times fewer solver calls. " in text
    assert text.endswith("With one seed, small differences may be chance.")


def test_the_two_stage_group_that_is_compared_has_its_name_of_the_table(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("two-stage", metrics={"regret": 900.0}, lr=0.1)
    make_run("two-stage", metrics={"regret": 1000.0}, lr=0.2)
    make_run("spo", metrics={"regret": 800.0})
    assert ": 11.1 % below the 900.0 of two-stage (lr 0.1)." in words(tmp_path / "results")


@pytest.mark.parametrize(("on", "name"), [("train", "training"), ("validation", "validation"), ("test", "test")])
def test_regrets_are_called_by_the_data_that_they_are_on(tmp_path: Path, make_run: MakeRun, on: str, name: str) -> None:
    for method in ("spo", "map-dc"):
        make_run(method, metrics={"on": on}, watch=False)
    (section,) = sections(read_folder(tmp_path / "results").runs)
    assert f"have the lowest {name} regret," in words(tmp_path / "results")
    assert f"{name} regret" in [column.title for column in summary_table(section).columns]


def test_a_method_that_is_not_near_saves_nothing(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"regret": 800.0, "solves": 10000})
    make_run("map-dc", metrics={"regret": 900.0, "solves": 500})
    assert "fewer solver calls" not in words(tmp_path / "results")


def test_one_method_alone_is_compared_with_nothing(make_run: MakeRun) -> None:
    assert words(make_run("spo")) == ""


def test_methods_that_diverged_do_not_win(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"regret": float("-inf")})
    make_run("nce-c", metrics={"regret": 500.0})
    make_run("map-dc", metrics={"regret": 400.0})
    assert words(tmp_path / "results").startswith("map-dc has the lowest")


def test_methods_whose_regrets_read_alike_share_the_first_place(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("two-stage", metrics={"regret": 800.0, "solves": 0})
    make_run("spo", metrics={"regret": 800.01, "solves": 10000})
    make_run("map-dc", metrics={"regret": 900.0, "solves": 500})
    assert words(tmp_path / "results").startswith("two-stage, spo have the lowest test regret, 800.0.")


def test_a_lead_is_not_rounded_up_to_all_of_the_regret(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("two-stage", metrics={"regret": 1000.0})
    make_run("spo", metrics={"regret": 0.2})
    assert ": over 99.9 % below the 1,000 of two-stage" in words(tmp_path / "results")
    make_run("map-dc", metrics={"regret": 0.0})
    assert ": 100 % below the 1,000 of two-stage" in words(tmp_path / "results")


def test_solves_that_compare_candidates_are_solver_calls(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("auto", metrics={"regret": 800.0, "solves": 100, "scoring_solves": 200})
    make_run("map-dc", metrics={"regret": 808.0, "solves": 100})
    assert "map-dc is within 1 % of it with 3.00 times fewer solver calls." in words(tmp_path / "results")


@pytest.mark.parametrize("solves", [5001, 0, None])
def test_a_method_saves_solver_calls_where_it_makes_some_and_at_most_half(
    solves: int | None, tmp_path: Path, make_run: MakeRun
) -> None:
    make_run("spo", metrics={"regret": 800.0, "solves": 10000})
    make_run("map-dc", metrics={"regret": 808.0, "solves": solves})
    assert "fewer solver calls" not in words(tmp_path / "results")
    make_run("spo-cache", metrics={"regret": 816.0, "solves": 5000})
    assert "spo-cache is within 2 % of it with 2.00 times fewer solver calls." in words(tmp_path / "results")


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
