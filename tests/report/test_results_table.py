from __future__ import annotations

from pathlib import Path

from regretless.report.groups import sections
from regretless.report.report_data import DAMAGED, FAILED, UNFINISHED
from regretless.report.results_folder import read_folder
from regretless.report.results_table import runs_from_table

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
        "energy-1,spo,1.0,1,random,failed,,oracle,,b,no licence",
        "energy-1,spo,1.0,2,random,odd,,oracle,,c,",
    )
    runs = runs_from_table(path, [])
    assert [run.status for run in runs] == [UNFINISHED, FAILED, DAMAGED]
    assert [run.error for run in runs] == ["", "no licence", "status in results.csv: odd"]
