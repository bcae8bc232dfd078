from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

import regretless.deciding.lanes as module
from regretless.deciding import lanes
from regretless.deciding.lanes import MODELS_PER_LANE, LaneEngines, Lanes
from regretless.errors import InputError
from regretless.milp import MILP
from regretless.solvers import threads
from regretless.types import Status


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
    monkeypatch.setattr(threads, "EXIT_SECONDS", 60.0)
    threads._wait_at_exit()  # for engines of other tests
    lanes, go_on = Lanes(1), threading.Event()
    assert not threads.at_work()
    left_behind, waiting = lanes.submit(go_on.wait), lanes.submit(lambda: 1)
    assert not left_behind.wait(time.monotonic() + 0.02)
    left_behind.abandoned = True
    assert threads.at_work()
    threading.Timer(0.05, go_on.set).start()
    threads._wait_at_exit()
    assert not threads.at_work()
    assert waiting.answer == 1


MODEL = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)


def test_an_engine_is_built_once_per_thread_and_model(monkeypatch: pytest.MonkeyPatch) -> None:
    built, make = [], lanes.make_engine
    monkeypatch.setattr(lanes, "make_engine", lambda *a, **k: (built.append(1), make(*a, **k))[1])
    engines, began = LaneEngines("highs"), time.perf_counter()

    def solve() -> None:
        for _ in range(3):
            assert engines.solve(MODEL, np.array([-4.0, -5.0, -6.0]), None).status is Status.OPTIMAL

    solve()
    other = threading.Thread(target=solve)
    other.start()
    other.join()
    assert len(built) == 2
    assert engines.count.solves == 6
    assert 0.0 < engines.count.seconds <= time.perf_counter() - began
    for _ in range(3 * MODELS_PER_LANE):
        engines.solve(MILP([[1.0]], row_upper=1.0), np.array([1.0]), None)
    assert len(engines._built.entries) == MODELS_PER_LANE


def test_an_exception_becomes_a_status_and_the_next_solve_gets_a_new_engine() -> None:
    engines = LaneEngines("highs", {"nonsense": 1})
    outcome = engines.solve(MODEL, np.ones(3), None)
    assert outcome.status is Status.ERROR
    assert "nonsense" in outcome.message
    engines = LaneEngines("highs")
    engines.solve(MODEL, np.ones(3), None)
    (key,) = engines._built.entries
    engines._built.entries[key] = (MODEL, object())
    assert engines.solve(MODEL, np.ones(3), None).status is Status.ERROR
    assert engines.solve(MODEL, np.ones(3), None).status is Status.OPTIMAL


def test_tiny_costs_are_solved_as_well_as_large_ones() -> None:
    for size in (1e-12, 1e12):
        found = LaneEngines("highs").solve(MODEL, size * np.array([-4.0, -5.0, -6.0]), None)
        assert found.x is not None
        assert found.x.tolist() == [1.0, 1.0, 0.0]


def test_multipliers_come_from_the_relaxation() -> None:
    y = LaneEngines("highs").multipliers(MODEL, np.array([-4.0, -5.0, -6.0]))
    assert y is not None
    assert y.shape == (1,)


def test_wrong_settings_are_refused_and_an_engine_that_cannot_be_built_now_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, options in (("hihgs", {}), ("highs", {"nonsense": 1}), ("batched-lp", {})):
        with pytest.raises(InputError):
            LaneEngines(name, options).refuse_wrong_settings(MODEL)
    engines = LaneEngines("highs")
    engines.refuse_wrong_settings(MODEL)

    def no_license(*_: Any, **__: Any) -> None:
        raise RuntimeError("no license")

    monkeypatch.setattr(lanes, "make_engine", no_license)
    engines.refuse_wrong_settings(MODEL)
