from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regretless.errors import FileError, InputError
from regretless.runs import Spec, grid_runs
from regretless.runs.grid_runs import GridProgress, do_missing_runs
from regretless.runs.results import read_results
from regretless.runs.run_folder import METRICS, run_path
from regretless.storage import write_json

from ..terminal import Terminal, wide_terminal

SLOW, FAST = Spec("knapsack-60", "two-stage"), Spec("knapsack-60", "spo")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return wide_terminal(monkeypatch)


def test_time_left_takes_each_kind_of_run_by_its_own_mean() -> None:
    progress = GridProgress("x", [SLOW, SLOW, FAST, FAST], workers=2, stream=None)
    assert progress.seconds_left() is None
    progress.report(SLOW, {"status": "done", "seconds": 10.0})
    assert progress.seconds_left() == pytest.approx((10.0 + 2 * 10.0) / 2)
    progress.report(FAST, {"status": "done", "seconds": 1.0})
    assert progress.seconds_left() == pytest.approx((10.0 + 1.0) / 2)


def test_runs_done_before_count_but_say_nothing_about_time() -> None:
    progress = GridProgress("x", [SLOW], skipped=3, stream=None)
    assert progress.seconds_left() is None
    assert (progress.done, progress.total, progress.note()) == (3, 4, "runs")


def test_the_nodes_at_work_are_shown() -> None:
    progress = GridProgress("x", [SLOW, FAST], stream=None)
    progress.report(None, {"nodes": 1})
    assert progress.note() == "runs on 1 node"
    progress.report(SLOW, {"status": "done", "seconds": 1.0, "nodes": 3})
    assert progress.note() == "runs on 3 nodes, 1 s left"


def test_a_failure_is_told_at_once_above_the_bar(terminal: Terminal) -> None:
    progress = GridProgress("x", [SLOW, FAST], stream=terminal)
    progress.report(SLOW, {"status": "done", "seconds": 1.0})
    progress.report(FAST, {"status": "failed", "seconds": 1.0, "error": "no license"})
    progress.close()
    assert "failed: knapsack-60, spo, seed 0: no license\n" in terminal.text
    assert re.search(r"x .* 2/2 runs, 1 failed, 0 s left", terminal.text)


def test_away_from_a_terminal_a_line_comes_every_half_minute() -> None:
    stream = io.StringIO()
    progress = GridProgress("x", [SLOW], stream=stream)
    progress.report(None, {})
    assert stream.getvalue() == ""
    progress.shown -= 60
    progress.report(None, {})
    progress.report(None, {})
    assert stream.getvalue() == "x: 0/1 runs\n"
    progress.report(SLOW, {"status": "failed", "seconds": 1.0, "error": "no license"})
    assert stream.getvalue().splitlines()[1:] == ["failed: knapsack-60, two-stage, seed 0: no license"]


SPECS = [
    Spec("synthetic-knapsack-60", method, seed=seed, epochs=1, options={"days": 20})
    for method in ("two-stage", "spo")
    for seed in (0, 1)
]


class Pool:
    """In place of the pool of workers: writes the figures of a run without training."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[Spec] = []
        self.stop_after: int | None = None
        monkeypatch.setattr(grid_runs, "do_runs", self.do_runs)
        monkeypatch.setattr(grid_runs.ray_cluster, "connect", self.connect)

    def connect(self, address: str, *, cpus: int) -> None:
        if address:
            raise InputError(f"no Ray cluster answers at {address!r}")

    def do_runs(self, specs: Sequence[Spec], out: Path, *, report: Any, **how: Any) -> None:
        self.how = how
        for spec in specs:
            if self.stop_after == len(self.done):
                raise KeyboardInterrupt
            write_json(run_path(out, spec) / METRICS, {"regret": 1.0})
            self.done.append(spec)
            report(spec, {"status": "done", "seconds": 0.1})


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    return Pool(monkeypatch)


def test_every_run_is_done_once_and_registered(pool: Pool, tmp_path: Path) -> None:
    do_missing_runs("grid", SPECS, tmp_path, workers=3, stream=None)
    assert pool.done == SPECS
    assert pool.how == {"workers": 3, "executor": "processes"}
    assert [result.status for result in read_results(tmp_path)] == ["done"] * 4
    do_missing_runs("grid", SPECS, tmp_path, stream=None)
    assert pool.done == SPECS


@pytest.mark.parametrize(
    ("executor", "kept"), [("processes", "keeps them and the epochs of those that had begun"), ("ray", "keeps them")]
)
def test_an_interrupted_grid_says_how_far_it_came_and_goes_on_where_it_stopped(
    pool: Pool, tmp_path: Path, executor: str, kept: str
) -> None:
    pool.stop_after = 3
    with pytest.raises(KeyboardInterrupt, match=rf"stopped with 3 of 4 runs done; .* {kept}: run the same command"):
        do_missing_runs("grid", SPECS, tmp_path, executor=executor, stream=None)
    assert sorted(result.status for result in read_results(tmp_path)) == ["done"] * 3 + ["pending"]
    pool.stop_after = None
    do_missing_runs("grid", SPECS, tmp_path, stream=None)
    assert pool.done == SPECS


@pytest.mark.parametrize(
    ("specs", "how", "message"),
    [
        (SPECS, {"workers": 0}, "workers must be an integer, at least 1, got 0"),
        (SPECS, {"executor": "threads"}, "executor"),
        (SPECS, {"executor": "ray:1.2.3"}, "no Ray cluster answers at '1.2.3'"),
        ([SPECS[0], replace(SPECS[1], options={"dayz": 3})], {}, "has no option 'dayz'"),
        ([SPECS[0], replace(SPECS[2], settings={"p_solve": 0.5})], {}, "'spo' does not know 'p_solve'"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_is_written(
    pool: Pool, tmp_path: Path, specs: list[Spec], how: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        do_missing_runs("grid", specs, tmp_path / "out", stream=None, **how)
    assert pool.done == []
    assert not (tmp_path / "out").exists()


def test_settings_are_checked_once_for_all_seeds(pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    monkeypatch.setattr(grid_runs, "check_spec", lambda spec: checked.append(spec.method))
    do_missing_runs("grid", SPECS, tmp_path, stream=None)
    assert sorted(checked) == ["spo", "two-stage"]


def test_a_later_grid_in_the_same_folder_replaces_its_cells_and_keeps_the_others(pool: Pool, tmp_path: Path) -> None:
    do_missing_runs("grid", SPECS, tmp_path, stream=None)
    longer = replace(SPECS[0], epochs=2)
    do_missing_runs("grid", [longer], tmp_path, stream=None)
    cells = [Spec.from_dict(one) for one in json.loads((tmp_path / "grid.json").read_text()).values()]
    assert sorted(one.digest for one in cells) == sorted(one.digest for one in [longer, *SPECS[1:]])


def test_failed_runs_are_named_in_the_progress(pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(specs: Sequence[Spec], out: Path, *, report: Any, **_: Any) -> None:
        report(specs[0], {"status": "failed", "error": "no memory", "seconds": 0.1})

    monkeypatch.setattr(grid_runs, "do_runs", fails)
    stream = io.StringIO()
    do_missing_runs("grid", SPECS, tmp_path, stream=stream)
    assert "failed: synthetic-knapsack-60, two-stage, seed 0: no memory" in stream.getvalue()


@pytest.mark.parametrize("executor", ["processes", "ray"])
def test_missing_public_data_are_named_before_anything_is_written(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    monkeypatch.setenv("REGRETLESS_DATA", str(tmp_path / "empty"))
    specs = [*SPECS, Spec("knapsack-60", "spo")]
    with pytest.raises(FileError, match=r"Data\.npz is not in .*; download it with: regretless data fetch semo"):
        do_missing_runs("grid", specs, tmp_path / "out", executor=executor, stream=None)
    assert not (tmp_path / "out").exists()
    write_json(run_path(tmp_path / "out", specs[-1]) / METRICS, {"regret": 1.0})
    do_missing_runs("grid", specs, tmp_path / "out", stream=None)  # what is done already needs no data
    assert pool.done == SPECS
