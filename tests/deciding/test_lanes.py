from __future__ import annotations

import threading
import time

import pytest

import regretless.deciding.lanes as module
from regretless.deciding.lanes import Lanes
from regretless.errors import InputError
from regretless.solvers import threads


def test_jobs_run_at_once_and_return_their_answers() -> None:
    lanes = Lanes(4)
    together = threading.Barrier(3)
    jobs = [lanes.submit(lambda k=k: (together.wait(10), k)[1]) for k in range(3)]
    assert all(job.wait(time.monotonic() + 10) for job in jobs)
    assert [job.answer for job in jobs] == [0, 1, 2]


def test_a_job_that_hangs_blocks_no_other() -> None:
    lanes, release = Lanes(2), threading.Event()
    hanging = lanes.submit(release.wait)
    assert not hanging.wait(time.monotonic() + 0.02)
    for k in range(5):
        job = lanes.submit(lambda k=k: k)
        assert job.wait(time.monotonic() + 10)
        assert job.answer == k
    assert lanes.alive == 2
    release.set()
    assert hanging.wait(time.monotonic() + 10)


def test_when_all_lanes_hang_a_job_waits_and_an_abandoned_one_never_runs() -> None:
    lanes, release, ran = Lanes(1), threading.Event(), []
    lanes.submit(release.wait)
    given_up, waiting = lanes.submit(lambda: ran.append("given up")), lanes.submit(lambda: ran.append("waiting"))
    assert not given_up.wait(time.monotonic() + 0.02)
    given_up.abandoned = True
    assert lanes.alive == 1
    release.set()
    assert waiting.wait(time.monotonic() + 10)
    assert ran == ["waiting"]


def test_an_exception_belongs_to_its_job() -> None:
    lanes = Lanes(1)
    bad = lanes.submit(lambda: 1 / 0)
    assert bad.wait(time.monotonic() + 10)
    assert isinstance(bad.error, ZeroDivisionError)
    good = lanes.submit(lambda: 1)
    assert good.wait(time.monotonic() + 10)
    assert good.answer == 1


def test_idle_lanes_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.deciding.lanes.IDLE_SECONDS", 0.01)
    lanes = Lanes(2)
    assert lanes.submit(lambda: 1).wait(time.monotonic() + 10)
    until = time.monotonic() + 10
    while lanes.alive and time.monotonic() < until:
        time.sleep(0.01)
    assert lanes.alive == 0
    assert lanes.submit(lambda: 1).wait(time.monotonic() + 10)


def test_closed_lanes_end() -> None:
    lanes = Lanes(2)
    assert lanes.submit(lambda: 1).wait(time.monotonic() + 10)
    lanes.close()
    until = time.monotonic() + 10
    while lanes.alive and time.monotonic() < until:
        time.sleep(0.01)
    assert lanes.alive == 0


def test_a_job_that_hangs_does_not_keep_the_process_alive() -> None:
    release = threading.Event()
    before = set(threading.enumerate())
    Lanes(1).submit(release.wait)
    assert [thread.daemon for thread in threading.enumerate() if thread not in before] == [True]
    release.set()


def test_lanes_must_be_positive() -> None:
    with pytest.raises(InputError, match="at least 1"):
        Lanes(0)


def test_the_end_of_the_process_waits_for_a_job_that_was_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_EVERY", type(module._EVERY)())  # without the lanes of other tests
    lanes, go_on = Lanes(1), threading.Event()
    assert not threads.at_work()
    left_behind, waiting = lanes.submit(go_on.wait), lanes.submit(lambda: 1)
    assert not left_behind.wait(time.monotonic() + 0.02)
    left_behind.abandoned = True
    assert threads.at_work()
    threading.Timer(0.05, go_on.set).start()
    monkeypatch.setattr(threads, "EXIT_SECONDS", 60.0)
    threads._wait_at_exit()
    assert not threads.at_work()
    assert waiting.answer == 1
