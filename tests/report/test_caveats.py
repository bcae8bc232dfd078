from __future__ import annotations

import json
from pathlib import Path

from regretless.report.collect import collect

from regretless.report.caveats import SHOWN, cautions, failures

from .conftest import EVIL, MakeRun


def test_clean_results_need_no_caution(results: Path) -> None:
    assert cautions(collect(results)) is None
    assert failures(collect(results).runs) is None


def test_bounds_failed_solves_and_values_that_are_not_finite_are_said(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"not_optimal": 3})
    make_run("map-dc", metrics={"failed": 1})
    make_run("nce-c", metrics={"regret": None})
    text = str(cautions(collect(tmp_path / "results")))
    assert "only a bound there (spo on synthetic-knapsack-60)" in text
    assert "left out of the regret (map-dc on synthetic-knapsack-60)" in text
    assert "not finite: they are not in the means (nce-c on synthetic-knapsack-60)" in text


def test_a_failed_run_shows_its_error_as_text(make_run: MakeRun) -> None:
    folder = make_run("spo", finish=False)
    (folder / "failure.json").write_text(json.dumps({"error": f"broken {EVIL}"}))
    text = str(failures(collect(folder).runs))
    assert "broken &lt;script&gt;" in text
    assert "<script" not in text
    assert "1 of 1 runs failed." in str(cautions(collect(folder)))


def test_unfinished_runs_are_counted_and_a_long_list_is_cut(tmp_path: Path, make_run: MakeRun) -> None:
    for seed in range(SHOWN + 3):
        make_run("spo", seed=seed, finish=False)
    collected = collect(tmp_path / "results")
    assert f"{SHOWN + 3} of {SHOWN + 3} runs are not finished." in str(cautions(collected))
    assert "And 3 more." in str(failures(collected.runs))
