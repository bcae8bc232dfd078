from __future__ import annotations

import json
from pathlib import Path

import pytest

from regretless.errors import FileError
from regretless.report.groups import sections
from regretless.report.report_data import DAMAGED, FAILED, UNFINISHED
from regretless.report.results_folder import read_folder, runs_from_table

from .conftest import MakeRun

HEADER = "problem,method,p_solve,seed,init,status,regret,engine,options,run,error\n"


def table(folder: Path, *rows: str) -> Path:
    (folder / "results.csv").write_text(HEADER + "\n".join(rows) + "\n")
    return folder / "results.csv"


def test_results_table_stands_in_for_missing_run_folders(tmp_path: Path) -> None:
    header = "problem,method,p_solve,seed,init,status,regret,auc\n"
    rows = "energy-1,spo-cache,0.2,3,shared,done,12.5,\nenergy-1,spo,,1,random,failed,,\n"
    (tmp_path / "results.csv").write_text(header + rows)
    data = read_folder(tmp_path)
    failed, done = data.runs
    assert (done.p_solve, done.spec["seed"], done.metric("regret"), done.metric("auc")) == (0.2, 3, 12.5, None)
    assert failed.status == "failed"
    assert "results.csv" in data.remarks[0]


def test_runs_with_another_engine_or_other_options_are_not_seeds_of_each_other(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "energy-1,spo,1.0,0,random,done,10,oracle,split=paper,a,",
        "energy-1,spo,1.0,0,random,done,90,highs,split=paper,b,",
        "energy-1,spo,1.0,0,random,done,50,oracle,split=random test=two words,c,",
    )
    remarks: list[str] = []
    first, second = sections(runs_from_table(path, remarks))
    assert (first.label, second.label) == ("energy-1 (split paper)", "energy-1 (split random, test two words)")
    assert {group.variant: group.statistic("regret").mean for group in first.groups} == {
        "engine default": 10.0,
        "engine highs": 90.0,
    }
    assert len(remarks) == 1


def test_rows_that_differ_in_settings_only_are_not_averaged(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "top-k,auto,,0,random,done,10,oracle,train=100,a,",
        "top-k,auto,,0,random,done,20,oracle,train=100,b,",
        "top-k,auto,,1,random,done,90,oracle,train=100,c,",
        "top-k,two-stage,,0,random,done,30,oracle,train=100,d,",
        "top-k,two-stage,,1,random,done,50,oracle,train=100,e,",
    )
    remarks: list[str] = []
    (section,) = sections(runs_from_table(path, remarks))
    found = {group.label: group.statistic("regret").mean for group in section.groups}
    assert found == {"two-stage": 40.0, "auto (run a)": 10.0, "auto (run b)": 20.0, "auto (run c)": 90.0}
    said = "the file results.csv does not say in which settings 3 of its runs differ: each has its own row"
    assert remarks[1] == said


def test_the_status_of_a_row_is_that_of_its_run(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "energy-1,spo,1.0,0,random,pending,,oracle,,a,",
        "energy-1,spo,1.0,1,random,failed,,oracle,,b,no license",
        "energy-1,spo,1.0,2,random,odd,,oracle,,c,",
    )
    runs = runs_from_table(path, [])
    assert [run.status for run in runs] == [UNFINISHED, FAILED, DAMAGED]
    assert [run.error for run in runs] == ["", "no license", "status in results.csv: odd"]


def test_runs_are_read_with_their_history_and_environment(results: Path) -> None:
    runs = read_folder(results).runs
    assert [(run.method, run.spec["seed"]) for run in runs] == [
        ("two-stage", 0), ("two-stage", 1), ("spo", 0), ("spo", 1), ("spo-cache", 0), ("spo-cache", 1),
    ]  # fmt: skip
    assert runs[0].status == "done"
    assert runs[0].history[0]["epoch"] == 1.0
    assert runs[0].history[0]["cache_size"] is None
    assert runs[0].environment["torch"] == "2.9"


def test_one_run_folder_is_accepted(make_run: MakeRun) -> None:
    folder = make_run("spo")
    assert [run.name for run in read_folder(folder).runs] == [folder.name]


def test_a_folder_of_run_folders_is_accepted(results: Path) -> None:
    assert len(read_folder(results / "runs").runs) == 6


def test_a_folder_that_is_missing_or_has_nothing_to_report_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere is not a folder of results: make results with: regretless demo"):
        read_folder(tmp_path / "nowhere")
    with pytest.raises(FileError, match="holds no runs, tables or figures to report: make results with"):
        read_folder(tmp_path)
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "bad.csv").write_text("")
    with pytest.raises(FileError, match=r"bad\.csv is left out: it is empty"):
        read_folder(tmp_path)


def test_tables_without_runs_are_enough(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.csv").write_text("a\n1\n")
    assert [item.title for item in read_folder(tmp_path).attachments] == ["a"]


@pytest.mark.parametrize("content", ["{", "[1]", '"text"', "1" * 5000])
def test_damaged_figures_cost_their_own_run_only(content: str, results: Path, make_run: MakeRun) -> None:
    (make_run("map-dc") / "metrics.json").write_text(content)
    runs = read_folder(results).runs
    assert [run.status for run in runs].count("done") == 6
    damaged = next(run for run in runs if run.status == "damaged")
    assert damaged.method == "map-dc"
    assert "metrics.json" in damaged.error


def test_a_damaged_specification_is_kept_as_damaged(make_run: MakeRun) -> None:
    folder = make_run("spo")
    (folder / "spec.json").write_bytes(b"\xff\xfe")
    assert read_folder(folder.parent.parent).runs[0].status == "damaged"


def test_failed_and_unfinished_runs_are_told_apart(make_run: MakeRun) -> None:
    folder = make_run("spo", finish=False)
    (folder / "failure.json").write_text(json.dumps({"status": "failed", "error": "no license"}))
    make_run("spo", seed=1, finish=False)
    runs = read_folder(folder.parent.parent).runs
    assert [(run.status, run.error) for run in runs] == [("failed", "no license"), ("unfinished", "")]


def test_a_run_that_succeeded_after_a_failure_is_done(make_run: MakeRun) -> None:
    folder = make_run("spo")
    (folder / "failure.json").write_text("{}")
    assert read_folder(folder).runs[0].status == "done"


def test_probability_of_methods_that_are_not_known_comes_from_their_settings(make_run: MakeRun) -> None:
    assert read_folder(make_run("invented", settings={"p_solve": 0.3})).runs[0].p_solve == 0.3
    assert read_folder(make_run("invented", seed=1)).runs[0].p_solve is None
    assert read_folder(make_run("spo-cache", settings={"p_solve": "odd"})).runs[0].p_solve is None
