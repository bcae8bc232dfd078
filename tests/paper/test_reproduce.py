from __future__ import annotations

import csv
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from regretless.errors import InputError, MissingDependencyError
from regretless.paper.reproduce import plan, reproduce_runs
from regretless.runs import Spec
from regretless.runs.results import read_results, register, write_results
from regretless.runs.worker import Worker
from tests import runs_here

pytest.importorskip("matplotlib")
COMMAND = """
import sys
from regretless.paper.reproduce import plan, reproduce_runs
methods, seeds, epochs, workers = sys.argv[2].split(","), int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
specs = plan("smoke", methods=methods, seeds=seeds, epochs=epochs)
reproduce_runs("smoke", specs, sys.argv[1], workers=workers, stream=None)
"""


class Grid:
    """A small reproduction as a process of its own, which can be killed with all its workers."""

    def __init__(self, out: Path, methods: str, *, seeds: int, epochs: int, workers: int) -> None:
        self.out, self.specs = out, plan("smoke", methods=methods.split(","), seeds=seeds, epochs=epochs)
        self.command = [sys.executable, "-c", COMMAND, str(out), methods, str(seeds), str(epochs), str(workers)]

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.command)

    def finish(self) -> None:
        subprocess.run(self.command, check=True, timeout=300)

    def undisturbed(self, out: Path) -> list[dict[str, str]]:
        """The same runs, one after the other in this process."""
        register(out, self.specs)
        worker = Worker(out)
        assert {worker.do(spec)["status"] for spec in self.specs} == {"done"}
        write_results(read_results(out), out / "results.csv")
        return rows(out)


def rows(out: Path) -> list[dict[str, str]]:
    with (out / "results.csv").open(newline="") as file:
        return [
            {name: value for name, value in row.items() if not name.endswith("_seconds")}
            for row in csv.DictReader(file)
        ]


def touched(out: Path) -> int:
    """When a run last wrote something."""
    return max((file.stat().st_mtime_ns for file in out.glob("runs/*/*.json")), default=0)


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """kill -9 of the process and of all its children at once."""
    tasks = Path(f"/proc/{process.pid}/task")
    children = [int(word) for task in tasks.glob("*/children") for word in task.read_text().split()]
    for pid in (process.pid, *children):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


@pytest.mark.slow
def test_killed_in_the_middle_of_a_run_it_ends_with_the_same_results(tmp_path: Path) -> None:
    grid = Grid(tmp_path / "killed", "spo-cache", seeds=1, epochs=10, workers=1)
    process = grid.start()
    until = time.monotonic() + 120
    while not list(grid.out.glob("runs/*/checkpoint.safetensors")):
        assert process.poll() is None, "ended before it could be killed"
        assert time.monotonic() < until, "no checkpoint came"
        time.sleep(0.01)
    kill_tree(process)
    assert not (grid.out / "results.csv").exists()
    reproduce_runs("smoke", grid.specs, grid.out, workers=1, stream=None)
    assert rows(grid.out) == grid.undisturbed(tmp_path / "calm")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_killed_at_five_random_moments_it_ends_with_the_same_results(tmp_path: Path, seed: int) -> None:
    grid = Grid(tmp_path / "killed", "two-stage,spo,spo-cache,blackbox-cache,map-dc", seeds=2, epochs=25, workers=2)
    moments = random.Random(seed)
    for _ in range(5):
        process, before = grid.start(), touched(grid.out)
        while process.poll() is None and touched(grid.out) == before:
            time.sleep(0.01)
        # Work has begun again: kill it somewhere in it.
        time.sleep(moments.uniform(0.0, 1.0))
        assert process.poll() is None, "the grid is too small to be killed five times"
        kill_tree(process)
    grid.finish()
    assert rows(grid.out) == grid.undisturbed(tmp_path / "calm")
    assert not list(grid.out.glob("runs/*/.*.tmp")), "no half-written file is left under another name than its own"


@pytest.mark.slow
def test_two_processes_share_one_folder(tmp_path: Path) -> None:
    grid = Grid(tmp_path / "shared", "spo,spo-cache", seeds=3, epochs=10, workers=1)
    both = [grid.start(), grid.start()]
    assert [process.wait(300) for process in both] == [0, 0]
    assert rows(grid.out) == grid.undisturbed(tmp_path / "calm")


def test_what_is_done_is_not_done_again_and_what_failed_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs_here.install(monkeypatch)
    good = Spec("synthetic-knapsack-60", "spo", epochs=1, options={"days": 20})
    bad = Spec("synthetic-knapsack-60", "spo", epochs=1, options={"days": 20, "split": "paper"})
    first = reproduce_runs("x", [good, bad], tmp_path, workers=1, stream=None)
    assert [result.status for result in first.results] == ["done", "failed"]
    metrics = tmp_path / "runs" / good.digest / "metrics.json"
    failure = tmp_path / "runs" / bad.digest / "failure.json"
    before = (metrics.stat().st_mtime_ns, failure.stat().st_mtime_ns)
    again = reproduce_runs("x", [good, bad], tmp_path, workers=1, stream=None)
    assert [result.spec for result in again.failed] == [bad]
    assert metrics.stat().st_mtime_ns == before[0]
    assert failure.stat().st_mtime_ns > before[1]


def test_an_interrupt_says_how_to_continue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("regretless.runs.grid_runs.do_runs", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"0 of 1 runs done.*same command again"):
        reproduce_runs("x", [Spec("synthetic-knapsack-60", "spo")], tmp_path, stream=None)


def test_all_takes_from_each_grid_the_methods_it_has() -> None:
    specs = plan("all", methods=["spo", "soft"], seeds=1)
    assert {(spec.problem.partition("-")[0], spec.method) for spec in specs} == {
        ("knapsack", "spo"), ("knapsack", "soft"), ("energy", "spo"), ("energy", "soft"), ("matching", "spo"),
    }  # fmt: skip


@pytest.mark.parametrize(("group", "methods"), [("knapsack", ["magic"]), ("all", ["spo", "magic"]), ("all", [])])
def test_a_method_that_no_grid_has_is_refused(group: str, methods: list[str]) -> None:
    with pytest.raises(InputError, match="magic" if methods else "got none"):
        plan(group, methods=methods)


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"settings": {"p_solve": 2}}])
def test_a_refused_grid_leaves_nothing(wrong: dict[str, Any], tmp_path: Path) -> None:
    spec = Spec("synthetic-knapsack-60", "map-dc", settings=wrong.get("settings", {}))
    with pytest.raises(InputError, match=next(iter(wrong)).replace("settings", "p_solve")):
        reproduce_runs("x", [spec], tmp_path / "out", workers=wrong.get("workers", 1), stream=None)
    assert not list(tmp_path.iterdir())


def test_a_missing_package_for_figures_is_told_before_anything_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match="matplotlib"):
        reproduce_runs("x", [Spec("synthetic-knapsack-60", "spo")], tmp_path / "out", stream=None)
    assert not list(tmp_path.iterdir())
