from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time

import pytest

from regretless.errors import InputError, SolveError
from regretless.solvers import threads as module
from regretless.solvers.executors import Clock, Unanswered
from regretless.solvers.threads import Threads, at_work
from regretless.types import Status

LIMIT = 0.15


def _work(job, clock):
    clock()
    if callable(job):
        return job()
    time.sleep(job)
    return f"slept {job}"


LATE = Unanswered(Status.TIME_LIMIT, f"took longer than {LIMIT} s and was given up on")


@pytest.mark.parametrize("limit", [5.0, None])
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_results_come_in_order(workers: int, limit: float | None) -> None:
    jobs = [0.03, 0.0, 0.01, 0.0, 0.02]
    assert Threads(_work, workers=workers, limit=limit).map(jobs) == [f"slept {job}" for job in jobs]


def test_a_job_that_hangs_is_given_up_on_and_the_rest_goes_on() -> None:
    done = threading.Event()
    threads = Threads(_work, workers=1, limit=LIMIT)
    start = time.monotonic()
    try:
        assert threads.map([0.0, done.wait, 0.0]) == ["slept 0.0", LATE, "slept 0.0"]
        assert time.monotonic() - start < 10 * LIMIT
    finally:
        done.set()
    # what the abandoned thread returns in the end is dropped
    assert threads.map([0.0, 0.01]) == ["slept 0.0", "slept 0.01"]


def test_late_jobs_of_callers_in_several_threads_are_not_mixed_up() -> None:
    """Any of the callers may be the first to see that the job of another one is late."""
    done, answers = threading.Event(), {}
    threads, wait = Threads(_work, workers=8, limit=LIMIT), 0.4 * LIMIT
    jobs = {"hangs": [0.0, 0.0, done.wait]} | {f"waits {k}": [wait] * 6 for k in range(6)}

    def call(name: str) -> None:
        answers[name] = threads.map(jobs[name])

    callers = [threading.Thread(target=call, args=(name,), daemon=True) for name in jobs]
    try:
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(timeout=40 * LIMIT)
    finally:
        done.set()
    assert answers.pop("hangs") == ["slept 0.0", "slept 0.0", LATE]
    assert answers == {f"waits {k}": [f"slept {wait}"] * 6 for k in range(6)}


def test_the_clock_starts_when_the_job_says_so() -> None:
    def slow_to_load(job, clock):
        time.sleep(2 * LIMIT)
        clock()
        return "done"

    assert Threads(slow_to_load, workers=1, limit=LIMIT).map([0]) == ["done"]


def test_jobs_that_wait_for_a_thread_are_not_late() -> None:
    assert Threads(_work, workers=1, limit=LIMIT).map([0.6 * LIMIT] * 4) == [f"slept {0.6 * LIMIT}"] * 4


def test_what_the_work_raises_is_raised_and_the_threads_live_on() -> None:
    def fail():
        raise InputError("no such option")

    threads = Threads(_work, workers=2, limit=5.0)
    with pytest.raises(InputError, match="no such option"):
        threads.map([fail, 0.0, 0.0])
    assert threads.map([0.0]) == ["slept 0.0"]


def test_a_solver_that_always_hangs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_HANGING", 2)
    done = threading.Event()
    try:
        with pytest.raises(SolveError, match="3 solves hang past their time limit"):
            Threads(_work, workers=1, limit=0.03).map([done.wait] * 5)
    finally:
        done.set()


def test_threads_end_when_they_are_no_longer_needed() -> None:
    # Threads of earlier tests may end at any moment: only those that are new here count.
    before = set(threading.enumerate())
    threads = Threads(_work, workers=3, limit=5.0)
    threads.map([0.0] * 3)
    mine = [thread for thread in threading.enumerate() if thread not in before and thread.name == "regretless-solver"]
    assert len(mine) == 3
    del threads
    gc.collect()
    for thread in mine:
        thread.join(timeout=5.0)
    assert not any(thread.is_alive() for thread in mine)


def test_one_worker_without_a_limit_runs_in_the_calling_thread() -> None:
    threads = Threads(lambda job, clock: threading.get_ident(), workers=1, limit=None)
    assert threads.map([0, 1]) == [threading.get_ident()] * 2
    several = Threads(lambda job, clock: threading.get_ident(), workers=2, limit=None)
    assert threading.get_ident() not in several.map([0, 1, 2])


@pytest.mark.parametrize("timed", [True, False])  # the clock of a job starts when its engine is built
def test_the_end_of_the_process_waits_for_jobs_that_were_left_behind(
    timed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def fail_or_wait(fails: bool, clock: Clock) -> None:
        if timed:
            clock()
        if fails:  # after the other one has begun: jobs that have not are dropped
            assert begun.wait(10)
            raise ZeroDivisionError
        begun.set()
        go_on.wait()

    monkeypatch.setattr(module, "OTHERS_AT_WORK", [])
    monkeypatch.setattr(module, "EXIT_SECONDS", 60.0)
    module._wait_at_exit()  # for engines of other tests
    assert not at_work()
    with pytest.raises(ZeroDivisionError):
        Threads(fail_or_wait, workers=2, limit=None).map([True, False])
    assert at_work(), "the other job was left behind"
    monkeypatch.setattr(module, "EXIT_SECONDS", 0.05)
    module._wait_at_exit()
    assert at_work(), "the end of the process does not wait for ever"
    monkeypatch.setattr(module, "EXIT_SECONDS", 60.0)
    threading.Timer(0.05, go_on.set).start()
    module._wait_at_exit()
    assert not at_work()


def test_jobs_run_in_the_calling_thread_only_while_they_are_short() -> None:
    def work(seconds, clock):
        time.sleep(seconds)
        return threading.get_ident()

    here, threads = threading.get_ident(), Threads(work, workers=1, limit=None, inline=0.05)
    assert threads.map([0.0]) != [here]  # nothing is known yet
    assert threads.map([0.0, 0.0]) == [here] * 2
    assert threads.map([0.1]) == [here]  # nobody could know
    assert threads.map([0.1]) != [here]
    assert threads.map([]) == []
    assert threads.map([0.0]) != [here]
    assert threads.map([0.0]) == [here]


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from regretless import MILP, Problem

generator = np.random.default_rng(0)
size = 60
rows = generator.integers(1, 1000, size=(5, size))
hard = Problem(MILP(rows, row_lower=rows.sum(axis=1) // 2, row_upper=rows.sum(axis=1) // 2), sense="max", workers=1)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    hard.solve(generator.random((1, size)))
    print("solved")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 5, flush=True)
"""


def test_ctrl_c_leaves_a_long_solve_of_one_worker() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "interrupted True\n", done.stderr
