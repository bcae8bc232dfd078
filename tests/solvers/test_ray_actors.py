from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.ray_session import actor_pids, ray_for_tests

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.solvers.ray_actors import SLICE_SECONDS, RayActors, slice_size, stays_local
from regretless.types import Status


@given(jobs=st.integers(1, 500), workers=st.integers(1, 40), seconds=st.floats(0.0, 1.0))
def test_slices_cover_all_jobs_and_never_grow(jobs: int, workers: int, seconds: float) -> None:
    waiting, sizes = jobs, []
    while waiting:
        sizes.append(slice_size(waiting, workers, seconds))
        assert sizes[-1] >= 1
        waiting -= sizes[-1]
    assert sum(sizes) == jobs
    assert sizes == sorted(sizes, reverse=True)


@given(jobs=st.integers(1, 500), workers=st.integers(1, 40), seconds=st.floats(1e-6, 1.0))
def test_all_slices_but_the_last_take_a_few_milliseconds(jobs: int, workers: int, seconds: float) -> None:
    size = slice_size(jobs, workers, seconds)
    assert size == jobs or size * seconds >= SLICE_SECONDS * (1 - 1e-9)


def test_only_a_batch_of_less_than_two_slices_stays_local() -> None:
    assert stays_local(1, 1.9 * SLICE_SECONDS)
    assert not stays_local(1, 2.1 * SLICE_SECONDS)
    assert not stays_local(3, SLICE_SECONDS)


def test_the_last_jobs_go_one_by_one_where_each_takes_long() -> None:
    assert [slice_size(waiting, 2, 0.1) for waiting in (24, 4, 3, 2, 1)] == [6, 1, 1, 1, 1]


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    yield from ray_for_tests()


def solver(costs: np.ndarray) -> Any:
    time.sleep(0.02)
    if costs[0] == 13.0:
        raise RuntimeError("thirteen")
    if costs[0] == 14.0:
        os._exit(3)
    if costs[0] == 15.0:
        time.sleep(60.0)
    if costs[0] == 16.0:
        return [np.nan, 0.0, 0.0]
    return costs == costs.min()


def rows(*first: float) -> torch.Tensor:
    return torch.tensor([[f, 5.0, 9.0] for f in first], dtype=torch.float64)


class Busy:
    """Works for as many seconds as the job says, and returns where."""

    def __call__(self, job: float, clock: Any) -> int:
        clock()
        time.sleep(job)
        return os.getpid()


@pytest.mark.parametrize(
    ("workers", "fault"),
    # An actor that ends is started three times, which takes seconds.
    [(1, 13.0), (2, 14.0)],
    ids=["raises", "ends"],
)
@pytest.mark.slow  # tests/runs/test_ray_runs.py is fast
def test_faults_are_reported_as_with_threads_and_cost_one_instance_each(ray: Any, workers: int, fault: float) -> None:
    costs = rows(1.0, 13.0, 7.0, fault, 16.0, 2.0)
    problem = Problem(oracle=solver, dimension=3, workers=workers, executor="ray", on_failure="skip")
    spread = problem.attempt(costs)
    threads = Problem(oracle=solver, dimension=3, on_failure="skip").attempt(rows(1.0, 13.0, 7.0, 13.0, 16.0, 2.0))
    assert torch.equal(threads.solution.nan_to_num(-1.0), spread.solution.nan_to_num(-1.0))
    assert spread.statuses == threads.statuses
    assert spread.message[1] == "RuntimeError: thirteen"
    if fault == 14.0:
        assert spread.message[3] == "its Ray actor was lost 2 times while it was solved"
    assert "NaN or infinite" in spread.message[4]


def test_small_batches_stay_in_this_process_and_long_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    executor: RayActors[float, int] = RayActors(Busy(), workers=1, limit=None)
    sent: list[int] = []

    def spread(jobs: Any) -> list[Any]:
        sent.append(len(jobs))
        return executor._threads.map(jobs)

    monkeypatch.setattr(executor, "_spread", spread)
    executor.map([0.0])  # nothing is known yet
    executor._seconds = 1e-6  # whatever the machine had to do besides
    executor.map([0.0] * 4)
    executor.map([0.05])  # takes longer than expected
    executor.map([0.01] * 2)
    assert sent == [1, 2]


@pytest.mark.slow
def test_a_lost_actor_is_replaced_and_its_jobs_run_again(ray: Any) -> None:
    executor: RayActors[float, int] = RayActors(Busy(), workers=2, limit=None)
    first = set(executor.map([0.1] * 4))
    killer = threading.Timer(0.2, lambda: os.kill(min(first), signal.SIGKILL))
    killer.start()
    answers = executor.map([0.1] * 12)
    killer.join()
    assert all(isinstance(pid, int) for pid in answers)
    assert min(first) not in executor.map([0.1] * 4)


@pytest.mark.slow
def test_a_call_that_hangs_is_given_up_on_and_its_actor_ends(ray: Any) -> None:
    problem = Problem(oracle=solver, dimension=3, executor="ray", time_limit=0.5, on_failure="skip")
    problem.attempt(rows(1.0))
    solved = problem.attempt(rows(15.0, 2.0))
    assert solved.statuses == [Status.TIME_LIMIT, Status.OPTIMAL]
    assert solved.message[0] == "the solver function took longer than 0.5 s and was given up on"


@pytest.mark.slow
def test_engines_give_the_same_bits_and_the_work_raises_as_with_threads(ray: Any) -> None:
    generator = np.random.default_rng(0)
    milp = MILP(generator.integers(1, 9, (3, 12)).astype(float), row_upper=[20.0, 20.0, 20.0])
    costs = torch.as_tensor(-generator.random((40, 12)))
    one = Problem(milp).attempt(costs, decision=True)
    two = Problem(milp, workers=2, executor="ray").attempt(costs, decision=True)
    assert torch.equal(one.solution, two.solution)
    assert torch.equal(one.decision, two.decision)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="HiGHS does not know the option sens"):
        Problem(milp, executor="ray", sens=1).attempt(costs[:1])


@pytest.mark.slow
def test_actors_end_with_the_problem(ray: Any) -> None:
    before = set(actor_pids("SolveActor"))
    problem = Problem(oracle=solver, dimension=3, executor="ray")
    problem.attempt(rows(1.0, 2.0))
    started = set(actor_pids("SolveActor")) - before
    assert started
    del problem
    deadline = time.monotonic() + 60.0
    while started & set(actor_pids("SolveActor")) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not started & set(actor_pids("SolveActor"))


@pytest.mark.slow
def test_twenty_kills_of_random_actors_change_no_answer(ray: Any) -> None:
    problem = Problem(oracle=solver, dimension=3, workers=2, executor="ray")
    costs = torch.rand(60, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected = Problem(oracle=solver, dimension=3).attempt(costs).solution
    chance, kills = random.Random(0), 0
    while kills < 20:
        alive: list[int] = []
        while len(alive) < 2:  # a job that loses two actors has no result, so the next kill waits for both
            problem.attempt(costs[:8])
            alive = actor_pids("SolveActor")
        pid = chance.choice(alive)
        killer = threading.Timer(chance.uniform(0.0, 0.3), os.kill, (pid, signal.SIGKILL))
        killer.start()
        assert torch.equal(problem.attempt(costs).solution, expected)
        killer.join()
        kills += 1


def test_what_cannot_be_pickled_is_refused_at_once() -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    lock = threading.Lock()
    with pytest.raises(InputError, match=r"executor='ray' needs a solver that can be pickled.*lock"):
        Problem(oracle=lambda costs: (lock, costs), dimension=3, executor="ray")
