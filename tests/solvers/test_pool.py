from __future__ import annotations

import copy
import multiprocessing
import pickle
import sys
import threading
import time
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from regretless.errors import InputError, MissingDependencyError
from regretless.family import Family
from regretless.milp import MILP, Floats
from regretless.solvers import engine as engines
from regretless.solvers import pool as module
from regretless.solvers.engine import EngineEntry, Outcome
from regretless.solvers.pool import MODELS, EnginePool
from regretless.types import Status

KNAPSACK = MILP([[3.0, 4.0, 5.0, 6.0]], row_upper=9.0)


class Scripted:
    """An engine whose answers, delays and faults are written into the first cost."""

    built: ClassVar[list[Scripted]] = []

    def __init__(self, milp: MILP, *, time_limit: float | None = None, **options: Any) -> None:
        if "unknown" in options:
            raise InputError("no such option: unknown")
        if "broken" in options:
            raise RuntimeError("license expired")
        self.milp, self.thread, self.solves = milp, threading.get_ident(), 0
        Scripted.built.append(self)

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        assert threading.get_ident() == self.thread, "an engine belongs to one thread"
        self.solves += 1
        if objective[0] < 0:
            raise RuntimeError(f"crash {objective[0]}")
        time.sleep(float(objective[0]) / 1000)
        return Outcome(np.minimum(objective, self.milp.upper), Status.OPTIMAL)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> list[Scripted]:
    module = ModuleType("scripted_engine")
    module.build = Scripted  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "scripted_engine", module)
    monkeypatch.setitem(engines.TABLE, "scripted", EngineEntry("scripted_engine", "numpy", "numpy", "MIT"))
    monkeypatch.setattr(Scripted, "built", [])
    return Scripted.built


OPEN = MILP(np.zeros((0, 2)), upper=np.inf, integer=False)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_results_come_back_in_order_however_long_each_takes(scripted: list[Scripted], workers: int) -> None:
    costs = torch.tensor([[20.0, 0.0], [0.0, 1.0], [10.0, 2.0], [0.0, 3.0], [5.0, 4.0], [0.0, 5.0]])
    solved = EnginePool(OPEN, engine="scripted", workers=workers).solve(costs, decision=True)
    assert torch.equal(solved.solution, costs.to(torch.float64))
    assert solved.decision is not None
    assert torch.equal(solved.decision, costs.to(torch.float64))
    assert solved.status is None
    assert solved.message == {}
    assert 1 <= len(scripted) <= workers


@pytest.mark.parametrize("workers", [1, 3])
def test_an_exception_is_one_instances_status_and_leaves_the_rest(scripted: list[Scripted], workers: int) -> None:
    costs = torch.tensor([[1.0, 1.0], [-1.0, 0.0], [2.0, 2.0], [-2.0, 0.0], [3.0, 3.0]])
    solved = EnginePool(OPEN, engine="scripted", workers=workers).solve(costs)
    assert solved.found.tolist() == [True, False, True, False, True]
    assert solved.statuses == [Status.OPTIMAL, Status.ERROR] * 2 + [Status.OPTIMAL]
    assert torch.equal(solved.solution[solved.found], costs[solved.found].to(torch.float64))
    assert solved.message == {1: "RuntimeError: crash -1.0", 3: "RuntimeError: crash -2.0"}
    assert solved.gap is not None
    assert solved.gap.tolist() == [0.0, np.inf, 0.0, np.inf, 0.0]


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every thread has engines of its own; see ``SHORT``."""
    monkeypatch.setattr(module, "SHORT", np.inf)


@pytest.mark.usefixtures("one_thread")
def test_an_engine_is_kept_until_it_raises_and_then_replaced(scripted: list[Scripted]) -> None:
    pool = EnginePool(OPEN, engine="scripted")
    pool.solve(torch.ones(3, 2))
    pool.solve(torch.ones(2, 2))
    assert [engine.solves for engine in scripted] == [5]
    pool.solve(torch.tensor([[-1.0, 0.0], [1.0, 1.0], [1.0, 1.0]]))
    assert [engine.solves for engine in scripted] == [6, 2]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_no_instance_can_be_solved_with_is_raised(scripted: list[Scripted], workers: int) -> None:
    with pytest.raises(InputError, match="no such option: unknown"):
        EnginePool(OPEN, engine="scripted", workers=workers, unknown=True).solve(torch.ones(3, 2))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_missing_package_is_raised_with_its_pip_line(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(MissingDependencyError, match=r"highspy.*install it with: pip install 'highspy<1\.15'"):
        EnginePool(KNAPSACK, workers=workers).solve(torch.ones(3, 4))


def test_an_engine_that_cannot_be_built_is_a_status(scripted: list[Scripted]) -> None:
    solved = EnginePool(OPEN, engine="scripted", broken=True).solve(torch.ones(2, 2))
    assert solved.statuses == [Status.ERROR] * 2
    assert solved.message[1] == "RuntimeError: license expired"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_costs_that_are_not_finite_never_reach_an_engine(scripted: list[Scripted], value: float) -> None:
    solved = EnginePool(OPEN, engine="scripted").solve(torch.tensor([[1.0, 1.0], [1.0, value]]))
    assert solved.statuses == [Status.OPTIMAL, Status.ERROR]
    assert "the objective is not finite" in solved.message[1]
    assert [engine.solves for engine in scripted] == [1]


def test_finite_costs_that_overflow_in_the_cost_map_never_reach_an_engine(scripted: list[Scripted]) -> None:
    milp = MILP(np.zeros((0, 1)), cost_map=[[10.0]])
    solved = EnginePool(milp, engine="scripted").solve(torch.tensor([[1e308]], dtype=torch.float64))
    assert "overflow in the cost map" in solved.message[0]
    assert scripted == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"workers": 0}, "workers must be an integer, at least 1, got 0"),
        ({"engine": "higs"}, "engine must be one of highs, .*got 'higs'"),
        ({"time_limit": 0.0}, r"time_limit must be positive seconds or None, got 0\.0"),
        ({"time_limit": float("nan")}, "time_limit must be positive seconds or None, got nan"),
    ],
)
def test_wrong_settings_are_refused_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EnginePool(KNAPSACK, **settings)


def test_workers_do_not_change_real_answers_even_among_ties() -> None:
    costs = torch.as_tensor(-np.random.default_rng(0).integers(1, 4, (40, 4)).astype(float))
    one, two, four = (EnginePool(KNAPSACK, workers=workers).solve(costs).solution for workers in (1, 2, 4))
    assert torch.equal(one, two)
    assert torch.equal(one, four)
    assert KNAPSACK.check(one.numpy()).all()


def _ties(rng: np.random.Generator) -> tuple[MILP, torch.Tensor]:
    """A random model with general integers, ranges and equalities, and costs with many ties."""
    n, rows = int(rng.integers(4, 16)), int(rng.integers(1, 6))
    A = (rng.integers(-4, 9, (rows, n)) * (rng.random((rows, n)) < 0.7)).astype(float)
    upper = rng.choice([1.0, 3.0, 10.0], n)
    high = np.floor(A.clip(0) @ upper * 0.4) + 1
    low = np.where(rng.random(rows) < 0.3, high - 2, -np.inf)
    return MILP(A, row_lower=low, row_upper=high, upper=upper), torch.as_tensor(
        rng.integers(-3, 3, (6, n)).astype(float)
    )


@pytest.mark.parametrize("engine", engines.names(integers=True))
def test_every_engine_gives_the_same_answers_bit_for_bit_for_any_number_of_workers(engine: str) -> None:
    if not engines.available()[engine]:
        pytest.skip(f"the engine {engine} is not installed")
    rng = np.random.default_rng(3)
    for _ in range(6):
        milp, costs = _ties(rng)
        one, two, four = (EnginePool(milp, engine=engine, workers=workers).solve(costs) for workers in (1, 2, 4))
        assert one.statuses == two.statuses == four.statuses
        for other in (two, four):
            assert torch.equal(one.solution.nan_to_num(nan=-1e9), other.solution.nan_to_num(nan=-1e9))


def test_an_empty_batch_gives_an_empty_answer() -> None:
    for workers in (1, 2):
        solved = EnginePool(KNAPSACK, workers=workers).solve(torch.zeros(0, 4), decision=True)
        assert solved.solution.shape == (0, 4)
        assert solved.decision is not None
        assert solved.decision.shape == (0, 4)


FAMILY = Family(
    [MILP([[1.0, 1.0]], row_upper=float(k), upper=5.0, fixed_cost=float(k), constant=1.0) for k in (1, 2, 3)]
)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_member_of_a_family_has_its_own_rows(workers: int) -> None:
    costs = torch.tensor([[-9.0, -8.0, 1.0]]).repeat(4, 1)
    solved = EnginePool(FAMILY, workers=workers).solve(costs, torch.tensor([2, 0, 1, 2]), decision=True)
    assert solved.decision is not None
    assert solved.decision.tolist() == [[3.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]
    # the last coordinate is 1: known costs are on the side of the costs
    assert solved.solution.tolist() == [[3.0, 0.0, 1.0], [1.0, 0.0, 1.0], [2.0, 0.0, 1.0], [3.0, 0.0, 1.0]]


@pytest.mark.usefixtures("one_thread")
def test_models_of_a_large_family_are_kept_up_to_a_limit(scripted: list[Scripted]) -> None:
    count = MODELS + 1
    pool = EnginePool(Family([OPEN] * count), engine="scripted")
    pool.solve(torch.ones(count, 2), torch.arange(count))
    assert len(scripted) == count
    pool.solve(torch.ones(1, 2), torch.tensor([count - 1]))
    assert len(scripted) == count, "the newest is still there"
    pool.solve(torch.ones(1, 2), torch.tensor([0]))
    assert len(scripted) == count + 1, "the oldest has made room"


def test_many_workers_hold_no_more_models_than_one(scripted: list[Scripted]) -> None:
    pool = EnginePool(Family([OPEN] * 8), engine="scripted", workers=MODELS // 4)
    for row in [*range(5), 0]:  # one at a time: in this thread
        pool.solve(torch.ones(1, 2), torch.tensor([row]))
    assert len(scripted) == 6, "the fifth model took the place of the first"


def test_a_used_pool_can_be_copied_and_pickled() -> None:
    costs = -torch.arange(1.0, 13.0).reshape(3, 4)
    pool = EnginePool(KNAPSACK, workers=2, time_limit=10.0)
    expected = pool.solve(costs).solution
    for other in (copy.deepcopy(pool), pickle.loads(pickle.dumps(pool))):
        assert torch.equal(other.solve(costs).solution, expected)
        assert (other.workers, other.time_limit, other.engine) == (2, 10.0, "highs")


def _child(pool: EnginePool, costs: torch.Tensor, queue: Any) -> None:
    queue.put(pool.solve(costs).solution.tolist())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
def test_a_forked_process_gets_its_own_threads(scripted: list[Scripted]) -> None:
    pool = EnginePool(OPEN, engine="scripted", workers=2)
    costs = torch.ones(4, 2)
    pool.solve(costs)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(pool, costs, queue))
    child.start()
    try:
        assert queue.get(timeout=20) == costs.tolist()
    finally:
        child.kill()
        child.join()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_engine_that_hangs_past_its_limit_costs_one_instance(
    scripted: list[Scripted], monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr("regretless.solvers.pool.GRACE", 0.1)
    pool = EnginePool(OPEN, engine="scripted", workers=workers, time_limit=0.05)
    costs = torch.tensor([[1.0, 1.0], [3000.0, 1.0], [2.0, 2.0], [-1.0, 0.0]])
    solved = pool.solve(costs)
    assert solved.statuses == [Status.OPTIMAL, Status.TIME_LIMIT, Status.OPTIMAL, Status.ERROR]
    assert solved.found.tolist() == [True, False, True, False]
    assert solved.message[1] == "the engine did not keep its time limit of 0.05 s and was given up on"
    assert pool.solve(costs[:1]).status is None


def test_an_answer_of_an_engine_is_looked_at_once(scripted: list[Scripted], monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([np.zeros(4), np.ones(4), np.ones(3), np.full(4, np.nan)])
    monkeypatch.setattr(Scripted, "solve", lambda self, objective, start=None: Outcome(next(answers), Status.OPTIMAL))
    solved = EnginePool(KNAPSACK, engine="scripted").solve(torch.ones(4, 4))
    assert solved.found.tolist() == [True, False, False, False]
    assert "infeasible" in solved.message[1]
    assert "must have shape (4,), got (3,)" in solved.message[2]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_engine_cannot_end_the_process(
    scripted: list[Scripted], monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr(Scripted, "solve", lambda self, objective, start=None: sys.exit("no license"))
    solved = EnginePool(OPEN, engine="scripted", workers=workers).solve(torch.ones(2, 2))
    assert solved.statuses == [Status.ERROR] * 2
    assert solved.message[0] == "SystemExit: no license"


@pytest.mark.parametrize("power", [-300, -40, 40, 300])
@pytest.mark.parametrize("relaxed", [False, True])
def test_the_size_of_costs_changes_no_optimum(power: int, relaxed: bool) -> None:
    model = KNAPSACK.relax() if relaxed else KNAPSACK
    costs = -torch.as_tensor(np.random.default_rng(1).random((12, 4)))
    expected = EnginePool(model).solve(costs)
    solved = EnginePool(model).solve(costs * 2.0**power)
    assert solved.status is None
    assert torch.equal(solved.solution, expected.solution)


def test_ordinary_costs_reach_the_engine_bit_for_bit(scripted: list[Scripted]) -> None:
    costs = torch.tensor([[0.1, 7.0], [0.01, 0.003], [0.0, 0.0]], dtype=torch.float64)
    assert torch.equal(EnginePool(OPEN, engine="scripted").solve(costs).solution, costs)


def test_an_engine_has_twice_its_limit_and_a_second_before_it_is_given_up_on() -> None:
    assert EnginePool(KNAPSACK, time_limit=3.0)._solves.limit == 7.0
    assert EnginePool(KNAPSACK)._solves.limit is None


@pytest.mark.parametrize(("executor", "versions"), [("processes", [2, 3]), ("threads", [0, 0])])
def test_processes_are_started_anew_when_a_family_has_grown(
    executor: str, versions: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    family, seen = Family.vary(KNAPSACK), []
    family.add()
    pool = EnginePool(family, executor=executor)
    work = pool._solves.work
    monkeypatch.setattr(
        pool._solves, "map", lambda jobs, version: seen.append(version) or [work(job, lambda: None) for job in jobs]
    )
    for room in (7.0, 3.0):
        (member,) = family.add(row_upper=np.full((1, 1), room))
        pool.solve(torch.full((1, KNAPSACK.n), -1.0), torch.tensor([member]))
    assert seen == versions
