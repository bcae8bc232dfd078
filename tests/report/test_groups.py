from __future__ import annotations

from pathlib import Path

import pytest

from regretless.report import read_folder
from regretless.report.groups import describe, method_order, natural_order, percent, run_order, sections
from regretless.report.report_data import DONE, Run

from .conftest import MakeRun


def test_numbers_in_names_count_as_numbers() -> None:
    assert sorted(["knapsack-120", "knapsack-60"], key=natural_order) == ["knapsack-60", "knapsack-120"]


def test_strange_digits_do_not_break_the_order() -> None:
    assert sorted(["a-²", "a-" + "9" * 5000, "a-٣", ""], key=natural_order)[0] == ""


def test_methods_come_in_the_order_of_the_paper_and_unknown_ones_last() -> None:
    assert sorted(["zeta", "map-dc", "spo", "alpha", "two-stage"], key=method_order) == [
        "two-stage", "spo", "map-dc", "alpha", "zeta",
    ]  # fmt: skip


def test_runs_are_ordered_by_problem_method_and_seed() -> None:
    specs = [("matching-10", "spo", 0), ("knapsack-60", "spo", 1), ("knapsack-60", "spo", 0), ("energy-1", "spo", "x")]
    runs = [Run(f"{p}{s}", {"problem": p, "method": m, "seed": s}, DONE) for p, m, s in specs]
    assert [run.name for run in sorted(runs, key=run_order)] == [
        "knapsack-600",
        "knapsack-601",
        "energy-1x",
        "matching-100",
    ]


def test_runs_that_differ_in_the_seed_only_are_one_group(results: Path) -> None:
    (section,) = sections(read_folder(results).runs)
    assert [(group.label, len(group.runs)) for group in section.groups] == [
        ("two-stage", 2),
        ("spo", 2),
        ("spo-cache", 2),
    ]


def test_the_order_in_which_a_file_lists_its_settings_sets_no_groups_apart(tmp_path: Path, make_run: MakeRun) -> None:
    settings = {"p_solve": 0.2, "grow_at": "predicted"}
    make_run("spo-cache", settings=settings, options={"days": 40, "split": "random"})
    make_run(
        "spo-cache", seed=1, settings=dict(reversed(settings.items())), options={"split": "random", "days": 40}
    )  # fmt: skip
    (section,) = sections(read_folder(tmp_path / "results").runs)
    assert [(group.label, group.seeds) for group in section.groups] == [("spo-cache", 2)]


def test_a_variant_names_what_sets_groups_of_a_method_apart(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo-cache", settings={"p_solve": 0.2})
    make_run("spo-cache", settings={"p_solve": 0.01})
    make_run("spo")
    (section,) = sections(read_folder(tmp_path / "results").runs)
    assert [group.label for group in section.groups] == ["spo", "spo-cache (p_solve 1 %)", "spo-cache (p_solve 20 %)"]


def test_other_data_are_another_section_and_another_engine_is_a_variant(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", options={"days": 40})
    make_run("spo")
    make_run("spo", options={"engine": "highs"})
    found = {
        section.label: [group.variant for group in section.groups]
        for section in sections(read_folder(tmp_path / "results").runs)
    }
    assert found["synthetic-knapsack-60 (days 40)"] == [""]
    assert sorted(found["synthetic-knapsack-60"]) == ["engine default", "engine highs"]


def test_runs_without_figures_are_in_no_group(make_run: MakeRun) -> None:
    assert sections(read_folder(make_run("spo", finish=False)).runs) == ()


def test_the_heading_of_a_run_on_files_is_words(make_run: MakeRun) -> None:
    options = {"features": "data/x.csv", "costs": "/else/c.csv", "cost_variables": ["x_*", "y"], "test": 0.3}
    (section,) = sections(read_folder(make_run("spo", problem="models/plan.lp", options=options)).runs)
    assert section.label == "plan.lp with features x.csv and costs c.csv (cost_variables x_* y, test 0.3)"


def test_files_of_one_name_in_two_folders_are_two_problems(tmp_path: Path, make_run: MakeRun) -> None:
    for folder in ("a", "b"):
        make_run("spo", problem=f"{folder}/plan.lp", options={"features": f"{folder}/x.csv"})
    assert len(sections(read_folder(tmp_path / "results").runs)) == 2


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "x default"), (True, "x yes"), ([], "x none"), ({"a": [1, 2]}, "x (a 1 2)"), ("text", "x text")],
)
def test_settings_are_words(value: object, words: str) -> None:
    assert describe({"x": value}) == words


def test_shares_are_written_as_per_cent() -> None:
    assert [percent(0.05), percent(1.0), percent(0.1171, 2), percent(None)] == ["5 %", "100 %", "11.71 %", "–"]
    assert [percent(0.5, 3), percent(0.5, 0), percent(float("inf"))] == ["50.000 %", "50 %", "∞"]
