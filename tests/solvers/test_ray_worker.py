from __future__ import annotations

import pickle
import time
from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.solvers.ray_worker import SolveActor, Timing, versions_here


def work(job: float, clock: Any) -> np.ndarray:
    time.sleep(0.2)  # loading a solver
    clock()
    if job < 0:
        raise InputError("a negative job")
    return np.array([2 * job])


def test_an_actor_returns_results_in_order_that_can_be_written_to() -> None:
    actor = SolveActor(pickle.dumps(work), limit=None)
    answers = pickle.loads(actor.run(pickle.dumps([1.0, 2.0])))
    assert [answer.result.tolist() for answer in answers] == [[2.0], [4.0]]
    assert all(answer.result.flags.writeable for answer in answers)


def test_what_the_work_raises_is_an_answer() -> None:
    error = pickle.loads(SolveActor(pickle.dumps(work), limit=None).run(pickle.dumps([-1.0])))
    assert isinstance(error, InputError)
    assert str(error) == "a negative job"


def test_seconds_are_counted_from_when_a_job_starts_its_clock() -> None:
    started: list[float] = []
    timed = Timing(work)(1.0, lambda: started.append(time.perf_counter()))
    assert timed.seconds <= time.perf_counter() - started[0]
    assert timed.result.tolist() == [2.0]


def test_versions_are_those_of_installed_packages_that_decide_between_optima() -> None:
    found = SolveActor(pickle.dumps(work), limit=None).ready()
    assert found == versions_here()
    assert found["numpy"] == np.__version__
