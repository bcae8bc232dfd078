from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from regretless.errors import InputError
from regretless.runs import Spec, ray_runs
from regretless.runs.results import read_results, register
from regretless.runs.run_folder import run_path
from regretless.runs.worker_pool import do_runs
from regretless.storage import read_json
from tests.ray_session import actor_pids, ray_for_tests

MEASURED = ("seconds", "ledger")


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    yield from ray_for_tests()


def spec(seed: int = 0, *, epochs: int = 1, **options: Any) -> Spec:
    return Spec("synthetic-knapsack-60", "map-dc", seed=seed, epochs=epochs, options={"days": 40} | options)


def done(specs: list[Spec], folder: Path, **how: Any) -> dict[int, dict[str, Any]]:
    answers: dict[int, dict[str, Any]] = {}

    def report(one: Spec | None, answer: dict[str, Any]) -> None:
        if one is not None:
            assert one.seed not in answers, "a run was reported twice"
            answers[one.seed] = answer

    do_runs(specs, folder, report=report, **how)
    return answers


def figures(folder: Path, one: Spec) -> dict[str, Any]:
    """The figures of a run, without what is measured by the clock."""
    found = read_json(run_path(folder, one) / "metrics.json")
    return {name: value for name, value in found.items() if not name.endswith(MEASURED)}


@pytest.mark.slow
def test_runs_on_ray_write_the_same_files_and_figures_as_the_worker_of_a_process(ray: Any, tmp_path: Path) -> None:
    specs = [spec(0), spec(1, split="no such split")]
    answers = done(specs, tmp_path / "ray", workers=1, executor="ray")
    assert [answers[seed]["status"] for seed in (0, 1)] == ["done", "failed"]
    assert answers[0]["nodes"] == 1
    here = done(specs, tmp_path / "here", workers=1)
    assert [here[seed]["status"] for seed in (0, 1)] == ["done", "failed"]
    assert figures(tmp_path / "ray", specs[0]) == figures(tmp_path / "here", specs[0])
    for one in specs:
        written, expected = (
            {path.name for path in run_path(tmp_path / where, one).iterdir()} - {".lock"} for where in ("ray", "here")
        )
        assert written == expected
    weights = [run_path(tmp_path / where, specs[0]) / "weights.safetensors" for where in ("ray", "here")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_what_does_not_travel_is_refused_before_the_cluster_is_started(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    other = Spec("synthetic-knapsack-60", "map-dc", start=str(tmp_path))
    with pytest.raises(InputError, match="cannot start from the folder of a run"):
        done([other], tmp_path, executor="ray")
    with pytest.raises(InputError, match=r"executor must be one of processes, ray\[:ADDRESS\], got 'threads'"):
        done([other], tmp_path, executor="threads")


@pytest.mark.parametrize("start", ["", "two-stage", "random"])
def test_initial_weights_that_are_no_folder_travel(start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class ConnectedError(Exception):
        pass

    def connect(*_: Any, **__: Any) -> None:
        raise ConnectedError

    monkeypatch.setattr(ray_runs.ray_cluster, "connect", connect)
    with pytest.raises(ConnectedError):
        ray_runs.RayRuns([Spec("synthetic-knapsack-60", "auto", start=start)], tmp_path, workers=1)


def test_files_of_an_earlier_attempt_do_not_stay_beside_a_finished_run(tmp_path: Path) -> None:
    for name in ("checkpoint.safetensors", "checkpoint-solves.safetensors"):
        (tmp_path / name).touch()
    ray_runs._write(tmp_path, {"metrics.json": b"{}"})
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.json"]


@pytest.mark.slow
def test_twenty_kills_of_random_workers_lose_no_run_and_change_no_number(ray: Any, tmp_path: Path) -> None:
    specs = [spec(seed, epochs=400) for seed in range(24)]
    chance, kills, over = random.Random(0), 0, threading.Event()

    def kill() -> None:
        nonlocal kills
        hit: set[int] = set()
        while kills < 20 and not over.wait(chance.uniform(0.1, 0.5)):
            alive = [pid for pid in actor_pids("RunActor.do") if pid not in hit]  # in the middle of a run
            if alive:
                hit.add(pid := chance.choice(alive))
                os.kill(pid, signal.SIGKILL)
                kills += 1

    killer = threading.Thread(target=kill)
    killer.start()
    register(tmp_path, specs)
    answers: dict[int, dict[str, Any]] = {}
    try:
        left = specs
        while left:  # a run that loses three workers is a failed one, and the same command does it again
            answers |= done(left, tmp_path, workers=2, executor="ray")
            left = [one for one in specs if answers[one.seed]["status"] != "done"]
    finally:
        over.set()
        killer.join()
    assert kills == 20
    assert len(read_results(tmp_path)) == len(specs)
    some = specs[::6]
    done(some, tmp_path / "here", workers=2)
    assert [figures(tmp_path, one) for one in some] == [figures(tmp_path / "here", one) for one in some]


@pytest.mark.slow
def test_the_same_command_goes_on_after_the_driver_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    command = [
        sys.executable, "-m", "regretless", "reproduce", "smoke", "--methods", "spo,two-stage", "--seeds", "6",
        "--workers", "1", "--executor", "ray", "--out", str(tmp_path), "--json",
    ]  # fmt: skip
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not list(tmp_path.glob("runs/*/metrics.json")) and time.monotonic() < deadline:
        time.sleep(0.2)
    first.kill()
    first.wait()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/metrics.json")}
    assert before
    second = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert second.returncode == 0, second.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert all(result.status == "done" for result in read_results(tmp_path))
