from __future__ import annotations

import pickle

import pytest

from regretless.errors import InputError
from regretless.solvers.executors import MOST_THREADS, TABLE, Execution, checked_workers, cores


def double(job: int, clock) -> int:
    clock()
    return 2 * job


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"workers": 0}, "workers must be an integer, at least 1, got 0"),
        ({"name": "slurm"}, r"executor must be one of threads, processes, ray\[:ADDRESS\], got 'slurm'"),
        ({"name": "threads:2"}, "got 'threads:2'"),
        ({"name": "ray:"}, "got 'ray:'"),
    ],
)
def test_wrong_settings_are_refused_at_once(settings, message) -> None:
    with pytest.raises(InputError, match=message):
        Execution(**({"name": "threads", "work": double, "workers": 1, "limit": None} | settings))


def test_by_default_there_is_a_thread_per_core_and_one_process(monkeypatch) -> None:
    assert cores() >= 1
    monkeypatch.setattr("regretless.solvers.executors.cores", lambda: 6)
    assert [checked_workers(None, kind) for kind in ("threads", "processes", "ray")] == [6, 1, 1]
    monkeypatch.setattr("regretless.solvers.executors.cores", lambda: 500)
    assert checked_workers(None) == MOST_THREADS
    assert checked_workers(300) == 300, "what was asked for"
    with pytest.raises(InputError, match="workers must be an integer, at least 1, got 0"):
        checked_workers(0)


def test_workers_are_kept_until_the_work_changes_and_are_not_pickled(monkeypatch) -> None:
    made = []

    class Own:
        def __init__(self, work, *, workers, limit) -> None:
            made.append((workers, limit))
            self.work = work

        @staticmethod
        def check(work) -> None:
            assert work is double

        def map(self, jobs):
            return [self.work(job, lambda: None) for job in jobs]

    monkeypatch.setitem(TABLE, "own", (__name__, "Own"))
    monkeypatch.setitem(__import__("sys").modules, __name__, __import__("types").SimpleNamespace(Own=Own))
    execution = Execution("own", double, workers=3, limit=2.0)
    assert made == []
    assert execution.map([1, 2]) == execution.map([1, 2]) == [2, 4]
    assert made == [(3, 2.0)]
    execution.map([1], version=7)
    execution.map([1], version=7)
    assert made == [(3, 2.0)] * 2
    assert execution.__getstate__()["_made"] is None


def test_a_copy_runs_by_itself() -> None:
    execution = Execution("threads", double, workers=2, limit=None)
    assert execution.map([1, 2, 3]) == [2, 4, 6]
    execution.work = len  # something that can be pickled from here
    assert pickle.loads(pickle.dumps(execution)).workers == 2


def test_work_that_no_other_process_can_load_is_refused_before_the_first_job() -> None:
    with pytest.raises(InputError, match="not a lambda, a nested function or a cell of a notebook"):
        Execution("processes", lambda job, clock: job, workers=1, limit=None)
