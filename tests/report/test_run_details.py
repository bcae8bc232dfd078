from __future__ import annotations

from dataclasses import replace

import pytest

from regretless.deciding.audited_run import Day
from regretless.report.page import render
from regretless.report.report_data import DONE, FAILED, ReportData, Run
from regretless.report.run_details import run_details

DAYS = tuple(Day(f"day {k}", 10.0 + k, 10.0, float(k), float(k + 1), {"x": 1.0}, {"x": 0.0}) for k in range(12))
SEARCH = {"chosen": "committee of 2", "candidates": [{"name": "soft", "epochs": 5, "regret": 0.5, "member": True}]}
METRICS = {
    "verdict": "Decision-focused training pays here.", "on": "test", "regret": 5.5,
    "ledger": {"labels": {"solves": 1200, "seconds": 3.0}, "growth": {"solves": 0, "seconds": 0.0}},
}  # fmt: skip


def auto_run(name: str = "run") -> Run:
    return Run(name, {"problem": "m.lp", "method": "auto", "seed": 0}, DONE, METRICS, search=SEARCH, days=DAYS)


def test_a_search_shows_verdict_candidates_and_days() -> None:
    (found,) = run_details([auto_run()])
    assert found["title"] == "auto on m.lp, seed 0"
    assert found["findings"][0] == "Decision-focused training pays here. Chosen: committee of 2."
    assert (
        "On the 12 test instances the decisions have a total regret of 66.00, which is 12.00 less"
        in found["findings"][1]
    )
    assert found["candidates"] is not None
    assert [cell.text for cell in found["candidates"].rows[0]] == ["soft", "5", "0.5000", "yes"]
    assert found["worst"] is not None
    assert len(found["worst"].rows) == 10
    page = render(ReportData("Report", (auto_run(),)))
    for words in ("Candidates of the search", "Worst instances", "Regret summed up"):
        assert words in page


def test_a_run_that_goes_on_from_another_says_how_many_rows_are_new() -> None:
    counts = {"training_rows": 30, "training_rows_new": 6, "training_rows_held_out_before": 0}
    spec = {"problem": "m.lp", "method": "spo", "seed": 0, "retrain": "run"}
    (found,) = run_details([Run("new", spec, DONE, METRICS | counts, days=DAYS)])
    assert found["findings"][0] == "Training data: 30 rows, 6 of them new since the old run."


def test_runs_of_the_same_method_and_problem_are_told_apart_by_their_folders() -> None:
    other = Run("spo", {"problem": "m.lp", "method": "spo", "seed": 0}, DONE, METRICS, days=DAYS[:1])
    runs = [replace(auto_run(name), days=()) for name in ("first", "later")]  # without days there is nothing to draw
    titles = [found["title"] for found in run_details([*runs, other])]
    assert titles == ["auto on m.lp, seed 0, in first", "auto on m.lp, seed 0, in later", "spo on m.lp, seed 0"]


def test_runs_without_details_have_no_section_and_sections_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Run("plain", {"problem": "p", "method": "spo"}, DONE, {"regret": 1.0})
    failed = Run("failed", {"problem": "p", "method": "auto"}, FAILED, search=SEARCH)
    assert run_details([plain, failed]) == []
    monkeypatch.setattr("regretless.report.run_details.MOST", 2)
    assert len(run_details([replace(auto_run(str(k)), days=()) for k in range(5)])) == 2


def test_the_same_decisions_as_two_stage_have_no_interval_and_no_worst_instance() -> None:
    days = tuple(Day(f"day {k}", 10.0, 10.0, 0.0, 0.0, {"x": 1.0}, {"x": 1.0}) for k in range(4))
    (found,) = run_details([Run("run", {"problem": "m.lp", "method": "spo"}, DONE, {"on": "test"}, days=days)])
    assert found["findings"] == ["On the 4 test instances the decisions have a total regret of 0, as two-stage."]
    assert found["worst"] is None


def test_odd_files_are_no_error() -> None:
    odd = Run("odd", {}, DONE, {"ledger": {"labels": 3}, "verdict": 7}, search={"candidates": ["x", {"name": None}]})
    (found,) = run_details([odd])
    assert found["findings"] == []


def test_one_instance_has_no_interval() -> None:
    (found,) = run_details([Run("run", {"problem": "m.lp", "method": "spo"}, DONE, {"on": "test"}, days=DAYS[1:2])])
    assert found["findings"] == [
        "On the only test instance the decisions have a total regret of 1.000, which is 1.000 less than two-stage "
        "(2.000), in units of the objective."
    ]


def test_a_loss_against_two_stage_is_called_more_regret() -> None:
    days = tuple(Day(f"day {k}", 12.0 + k, 10.0, 2.0 + k, 1.0, {"x": 1.0}, {"x": 0.0}) for k in range(3))
    (found,) = run_details([Run("run", {"problem": "m.lp", "method": "spo"}, DONE, {"on": "validation"}, days=days)])
    assert found["findings"][0].startswith(
        "On the 3 validation instances the decisions have a total regret of 9.000, which is 6.000 more than two-stage "
        "(3.000), in units of the objective; 95 % interval of the gain: −"
    )


def test_days_without_a_two_stage_decision_are_not_compared() -> None:
    alone = Day("alone", 90.0, 10.0, 80.0, None)
    run = Run("run", {"problem": "m.lp", "method": "spo"}, DONE, {"on": "test"}, days=(*DAYS[:2], alone))
    (found,) = run_details([run])
    assert found["findings"][0].startswith("On the 2 test instances the decisions have a total regret of 1.000")


def test_candidates_outside_the_committee_are_shown_as_such() -> None:
    rows = [{"name": "soft", "regret": 0.5, "member": True}, {"name": "spo", "regret": 0.25, "member": False}]
    (found,) = run_details([Run("run", {}, DONE, search={"candidates": rows})])
    assert found["candidates"] is not None
    assert [(row[0].text, row[3].text) for row in found["candidates"].rows] == [("soft", "yes"), ("spo", "no")]
    assert [row[2].value for row in found["candidates"].rows] == [0.5, 0.25]
