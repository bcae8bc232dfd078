from __future__ import annotations

import gc
import threading
import time

import pytest

from regretless.errors import InputError, SolveError
from regretless.solvers import deadline as watch
from regretless.solvers.deadline import Watched

LIMIT = 0.15


def _work(job, clock):
    clock()
    if callable(job):
        return job()
    time.sleep(job)
    return f"slept {job}"


def _late(job) -> str:
    return "late"


def _alive() -> int:
    return sum(thread.name == "regretless-watched" and thread.is_alive() for thread in threading.enumerate())


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_results_come_in_order(workers: int) -> None:
    jobs = [0.03, 0.0, 0.01, 0.0, 0.02]
    assert Watched(workers, 5.0).map(_work, jobs, _late) == [f"slept {job}" for job in jobs]


def test_a_job_that_hangs_is_given_up_on_and_the_rest_goes_on() -> None:
    done = threading.Event()
    watched = Watched(1, LIMIT)
    start = time.monotonic()
    try:
        assert watched.map(_work, [0.0, done.wait, 0.0], _late) == ["slept 0.0", "late", "slept 0.0"]
        assert time.monotonic() - start < 10 * LIMIT
    finally:
        done.set()
    # what the abandoned thread returns in the end is nobody's answer
    assert watched.map(_work, [0.0, 0.01], _late) == ["slept 0.0", "slept 0.01"]


def test_the_clock_starts_when_the_job_says_so() -> None:
    def slow_to_load(job, clock):
        time.sleep(2 * LIMIT)
        clock()
        return "done"

    assert Watched(1, LIMIT).map(slow_to_load, [0], _late) == ["done"]


def test_jobs_that_wait_for_a_thread_are_not_late() -> None:
    assert Watched(1, LIMIT).map(_work, [0.6 * LIMIT] * 4, _late) == [f"slept {0.6 * LIMIT}"] * 4


def test_what_the_work_raises_is_raised_and_the_threads_live_on() -> None:
    def fail():
        raise InputError("no such option")

    watched = Watched(2, 5.0)
    with pytest.raises(InputError, match="no such option"):
        watched.map(_work, [fail, 0.0, 0.0], _late)
    assert watched.map(_work, [0.0], _late) == ["slept 0.0"]


def test_a_solver_that_always_hangs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "MOST_HANGING", 2)
    done = threading.Event()
    try:
        with pytest.raises(SolveError, match="3 solves hang past their time limit"):
            Watched(1, 0.03).map(_work, [done.wait] * 5, _late)
    finally:
        done.set()


def test_threads_go_home_when_nobody_needs_them() -> None:
    # Threads of earlier tests may end at any moment: only those that are new here count.
    before = set(threading.enumerate())
    watched = Watched(3, 5.0)
    watched.map(_work, [0.0] * 3, _late)
    mine = [thread for thread in threading.enumerate() if thread not in before and thread.name == "regretless-watched"]
    assert len(mine) == 3
    del watched
    gc.collect()
    for thread in mine:
        thread.join(timeout=5.0)
    assert not any(thread.is_alive() for thread in mine)
