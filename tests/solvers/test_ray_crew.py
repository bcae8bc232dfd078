from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from regretless.errors import InputError, RegretlessWarning, SolveError
from regretless.solvers import ray_crew
from regretless.solvers.ray_crew import MOST_FAILED_STARTS, Crew, SolveActor, Timing, versions_here


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


class RayError(Exception):
    """What Ray raises for a lost actor."""


class RayTaskError(RayError):
    """What Ray raises for a task that raised."""


class Ref:
    """A result of a remote call, which is computed when it is read."""

    def __init__(self, compute: Callable[[], Any]) -> None:
        self.compute = compute


class Remote:
    """An actor in this process; the first ``broken`` of a ray do not start, and ``lost`` ones do not answer."""

    def __init__(self, ray: FakeRay, *given: Any) -> None:
        self.ray, self.inner = ray, SolveActor(*given)
        self.ready = SimpleNamespace(remote=lambda: Ref(self._ready))
        self.run = SimpleNamespace(remote=lambda jobs: Ref(lambda: self._run(jobs)))

    def _ready(self) -> dict[str, str]:
        self.ray.broken -= 1
        if self.ray.broken >= 0:
            raise RayError("no module named solver")
        return self.inner.ready() | self.ray.versions

    def _run(self, jobs: bytes) -> bytes:
        self.ray.lost -= 1
        if self.ray.lost >= 0:
            raise RayError("the actor was killed")
        return self.inner.run(jobs)


class FakeRay:
    """As much of Ray as a crew uses, without processes."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, *, broken: int = 0, lost: int = 0, **versions: str) -> None:
        self.broken, self.lost, self.versions, self.job = broken, lost, versions, 1
        self.killed: list[Remote] = []

    def put(self, value: Any) -> Any:
        return value

    def get(self, ref: Ref) -> Any:
        return ref.compute()

    def wait(self, refs: list[Ref], timeout: float | None) -> tuple[list[Ref], list[Ref]]:
        return refs[:1], refs[1:]

    def kill(self, actor: Remote) -> None:
        self.killed.append(actor)

    def remote(self, **_: Any) -> Any:
        return lambda kind: SimpleNamespace(remote=lambda *given: Remote(self, *given))

    def is_initialized(self) -> bool:
        return True

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_job_id=lambda: self.job)


def double(job: int, clock: Any) -> int:
    clock()
    return 2 * job


def crew(ray: FakeRay) -> Crew:
    return Crew(ray, pickle.dumps(double), None, 1)


def answered(one: Crew, jobs: list[int], token: str) -> list[Any]:
    """The first answer, after as many actors have started as that takes."""
    while not one.idle:
        list(one.collect())
    one.send(jobs, token)
    found: list[Any] = []
    while not found:
        found = list(one.collect())
    return found


def test_an_actor_answers_with_the_token_of_its_slice_and_is_idle_again() -> None:
    one = crew(FakeRay())
    ((token, found),) = answered(one, [1, 2], "first")
    assert (token, [answer.result for answer in found]) == ("first", [2, 4])
    assert len(one.idle) == 1


def test_an_actor_that_is_lost_with_its_slice_is_replaced() -> None:
    ray = FakeRay(lost=1)
    one = crew(ray)
    assert answered(one, [1], "lost") == [("lost", None)]
    ((_, found),) = answered(one, [1], "again")
    assert found[0].result == 2
    assert len(ray.killed) == 1


def test_actors_that_do_not_start_are_tried_again_a_few_times() -> None:
    ((_, found),) = answered(crew(FakeRay(broken=MOST_FAILED_STARTS - 1)), [1], "late")
    assert found[0].result == 2
    with pytest.raises(SolveError, match=r"5 Ray actors in a row did not start.*no module named solver"):
        answered(crew(FakeRay(broken=MOST_FAILED_STARTS)), [1], "never")


def test_a_cluster_without_a_free_cpu_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_crew.ray_cluster, "cpus", lambda ray, free=False: 0 if free else 4)
    ray = FakeRay()
    monkeypatch.setattr(ray, "wait", lambda refs, timeout: ([], refs))
    with pytest.raises(SolveError, match="the cluster has 4 CPUs, of which 0 are free, and every worker needs one"):
        list(crew(ray).collect())


def test_a_node_with_another_version_is_named_once() -> None:
    one = crew(FakeRay(lost=1, numpy="0.1"))
    with pytest.warns(RegretlessWarning, match=rf"a node has numpy 0\.1 \(here {versions_here()['numpy']}\)"):
        answered(one, [1], "lost")
    answered(one, [1], "again")  # the replacement has it, too: a second warning would be an error


def test_actors_of_another_connection_are_not_used() -> None:
    ray = FakeRay()
    one = crew(ray)
    assert not one.lost_connection()
    ray.job = 2
    assert one.lost_connection()


def test_actors_end_with_their_crew() -> None:
    ray = FakeRay()
    one = crew(ray)
    answered(one, [1], "first")
    assert not ray.killed
    del one
    assert len(ray.killed) == 1
