from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from regretless.errors import InputError
from regretless.runs import Spec
from regretless.runs.run_folder import run_path
from regretless.runs.run_lock import try_lock
from regretless.runs.worker_pool import RunWorker, WorkerPool, WorkerProcess, do_runs
from tests import forked
from tests.runs_here import Here

DAYS = {"days": 20}


def spec(seed: int = 0, *, epochs: int = 1, **options: Any) -> Spec:
    return Spec("synthetic-knapsack-60", "spo", seed=seed, epochs=epochs, options=DAYS | options)


@pytest.mark.slow
def test_neither_a_failure_nor_a_killed_worker_stops_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker that is killed is replaced."""
    do, answers = WorkerProcess.do, {}

    def killed(self: WorkerProcess, one: Spec) -> dict[str, Any]:
        if one.seed == 2:
            self.process.kill()
            self.process.wait()
        return do(self, one)

    def report(done: Spec | None, answer: dict[str, Any]) -> None:
        if done is not None:
            answers[done.seed] = answer

    monkeypatch.setattr(WorkerProcess, "do", killed)
    do_runs([spec(0), spec(1, split="no such split"), spec(2), spec(3)], tmp_path, workers=1, report=report)
    assert [answers[seed]["status"] for seed in range(4)] == ["done", "failed", "failed", "done"]
    assert "no such split" in answers[1]["error"]
    assert "SIGKILL" in answers[2]["error"]
    assert (run_path(tmp_path, spec(2)) / "failure.json").exists()


def attempt(one: Spec, folder: Path) -> dict[str, Any]:
    """Do a run with a worker in this process."""
    worker = Here(folder)
    return WorkerPool([one], folder, lambda: worker).attempt(worker, one)


def test_a_failed_run_is_recorded_and_a_later_success_forgets_it(tmp_path: Path) -> None:
    wrong = spec(split="paper")
    answer = attempt(wrong, tmp_path)
    assert answer["status"] == "failed"
    assert "chronological" in answer["error"]
    assert (run_path(tmp_path, wrong) / "failure.json").exists()
    folder = run_path(tmp_path, spec())
    folder.mkdir(parents=True)
    (folder / "failure.json").write_text("{}")
    assert attempt(spec(), tmp_path)["status"] == "done"
    assert not (folder / "failure.json").exists()
    with try_lock(folder / ".lock"):  # a run that is done is not begun again
        assert attempt(spec(), tmp_path)["status"] == "done"


def test_a_run_that_another_process_has_is_left_alone(tmp_path: Path) -> None:
    with try_lock(tmp_path / ".locks" / spec().digest):
        assert attempt(spec(), tmp_path)["status"] == "busy"
    assert not run_path(tmp_path, spec()).exists()


def test_a_failure_that_cannot_be_recorded_is_still_answered(tmp_path: Path) -> None:
    (tmp_path / "runs").touch()  # as on a full disk, no file can be made there
    answer = attempt(spec(), tmp_path)
    assert answer["status"] == "failed"
    assert "cannot make the lock file" in answer["error"]


def test_a_run_of_another_process_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: queue.Queue[str] = queue.Queue()

    def noted(self: WorkerPool, worker: RunWorker, one: Spec) -> dict[str, Any]:
        answer = tried(self, worker, one)
        answers.put(answer["status"])
        return answer

    tried = WorkerPool.attempt
    monkeypatch.setattr(WorkerPool, "attempt", noted)
    monkeypatch.setattr("regretless.runs.worker_pool.WorkerProcess", Here)
    monkeypatch.setattr("regretless.runs.worker_pool.RETRY_SECONDS", 0.01)
    reported: list[str] = []
    with try_lock(tmp_path / ".locks" / spec().digest):
        thread = threading.Thread(
            target=do_runs,
            args=([spec()], tmp_path),
            kwargs={"workers": 1, "report": lambda s, a: s and reported.append(a["status"])},
        )
        thread.start()
        assert [answers.get(timeout=60) for _ in range(3)] == ["busy"] * 3
        assert thread.is_alive()
        assert not reported
    thread.join()
    assert reported == ["done"]


class Leaving:
    """A worker that leaves with its first run, as many times as the class says."""

    leaves, made, closed = 0, 0, 0

    def __init__(self, results: Path) -> None:
        type(self).made += 1
        self.alive = True

    def ready(self) -> bool:
        return True

    def do(self, one: Spec) -> dict[str, Any]:
        self.alive = type(self).made > self.leaves
        return {"status": "done" if self.alive else "lost", "seconds": 0.0}

    def stop(self) -> None: ...

    def close(self) -> None:
        type(self).closed += 1


@pytest.mark.parametrize(("leaves", "status"), [(2, "done"), (3, "failed")])
def test_a_run_that_loses_its_worker_is_done_again_three_times_at_most(
    leaves: int, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = type("Worker", (Leaving,), {"leaves": leaves})
    monkeypatch.setattr("regretless.runs.worker_pool.WorkerProcess", worker)
    monkeypatch.setattr("regretless.runs.worker_pool.RETRY_SECONDS", 0.0)
    answers: list[dict[str, Any]] = []
    do_runs([spec(0)], tmp_path, workers=1, report=lambda one, answer: one and answers.append(answer))
    assert [answer["status"] for answer in answers] == [status]
    assert (worker.made, worker.closed) == (3, 3)
    assert (run_path(tmp_path, spec(0)) / "failure.json").exists() == (status == "failed")
    assert status == "done" or "the run lost 3 workers" in answers[0]["error"]


def test_an_interrupt_stops_the_workers_and_keeps_their_epochs(tmp_path: Path) -> None:
    long = spec(epochs=10**6)
    checkpoint = run_path(tmp_path, long) / "checkpoint.safetensors"

    def interrupt(done: Spec | None, answer: dict[str, Any]) -> None:
        if checkpoint.exists():
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        do_runs([long], tmp_path, workers=1, report=interrupt)
    assert checkpoint.exists()
    with try_lock(tmp_path / ".locks" / long.digest) as free:
        assert free


def test_an_interrupt_is_caught_although_a_solver_has_reset_its_handler(tmp_path: Path) -> None:
    # In a process of its own, which the signal would end.
    code = """
import ctypes, os, signal, time
from regretless.runs.worker_pool import _termination_as_interrupt
signal.signal(signal.SIGINT, signal.default_int_handler)
reset = ctypes.CDLL(None).signal
reset.argtypes, reset.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
reset(signal.SIGINT, None)
try:
    with _termination_as_interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
except KeyboardInterrupt:
    print("caught")
"""
    said = tmp_path / "said"
    forked.start(code, output=said).join()
    assert said.read_text() == "caught\n"


def test_workers_keep_to_the_problem_they_have_loaded(tmp_path: Path) -> None:
    names = ("knapsack-60", "knapsack-120")
    pool = WorkerPool([Spec(name, "spo", seed=seed) for name in names for seed in range(2)], tmp_path, WorkerProcess)
    taken = [pool._take(place) for place in (0, 1, 0, 1)]
    assert [one.problem for one in taken if one] == ["knapsack-60", "knapsack-120"] * 2
    assert pool._take(0) is None


def test_at_least_one_worker_is_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="workers"):
        do_runs([spec()], tmp_path, workers=0, report=lambda s, a: None)


@pytest.mark.slow
def test_a_worker_whose_parent_is_killed_ends_by_itself(tmp_path: Path) -> None:
    worker = WorkerProcess(tmp_path)
    assert worker.process.stdin is not None
    worker.process.stdin.close()  # what the system does when the parent is gone
    try:
        assert worker.process.wait(60) == 1
    except subprocess.TimeoutExpired:
        worker.process.kill()
        raise
    assert worker.process.stdout is not None
    assert worker.process.stdout.read() == ""
    worker.process.stdout.close()


class Stopped:
    """A process that is told to stop, with and without a console that could send a signal."""

    def __init__(self, *, console: bool) -> None:
        self.console = console
        self.told: list[object] = []

    def send_signal(self, number: int) -> None:
        if not self.console:
            raise OSError("The handle is invalid")
        self.told.append(number)

    def terminate(self) -> None:
        self.told.append("terminate")


def test_windows_stops_a_worker_with_a_signal_that_it_can_catch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "CTRL_BREAK_EVENT", 1, raising=False)
    worker = WorkerProcess.__new__(WorkerProcess)
    for console, told in ((True, [1]), (False, ["terminate"])):
        process = Stopped(console=console)
        worker.process = process  # type: ignore[assignment]
        worker.stop()
        assert process.told == told
