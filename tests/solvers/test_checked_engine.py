"""One check for every engine: options, garbage, and optimality with large integers against brute force."""

from __future__ import annotations

import re
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.solvers import available, make_engine, names
from regretless.solvers import engine as engines
from regretless.solvers.checked_engine import CheckedEngine
from regretless.solvers.engine import EngineEntry, Outcome
from regretless.types import Status

KNAPSACK = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)
# HiGHS 1.14 calls -55360 optimal: the least of a random search for such models
LARGE = MILP([[-17, -18, 33, 49], [-24, -33, 39, 1]], [35146, -np.inf], [35146, -3099], upper=1000.0)
LARGE_COSTS, LARGE_BEST = np.array([-14.0, 5.0, -32.0, -19.0]), -55379.0


class Says:
    """An engine that always gives the same answer."""

    def __init__(self, x: Any, status: Status = Status.OPTIMAL) -> None:
        self.outcome = Outcome(None if x is None else np.asarray(x, dtype=float), status)

    def solve(self, objective: Any, start: Any = None) -> Outcome:
        return self.outcome


def test_the_engine_gets_the_model_the_time_limit_and_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    fake = ModuleType("fake_engine")
    fake.build = lambda milp, **settings: seen.update(milp=milp, **settings)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fake_engine", fake)
    monkeypatch.setitem(engines.TABLE, "fake", EngineEntry("fake_engine", "numpy", "numpy", "MIT"))
    make_engine("fake", KNAPSACK, time_limit=2.0, level=3)
    assert seen == {"milp": KNAPSACK, "time_limit": 2.0, "level": 3}


def test_an_unknown_engine_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"engine must be one of highs, .*got 'cplex'"):
        make_engine("cplex", KNAPSACK)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"time_limit": 0.0}, "time_limit must be positive seconds or None, got"),
        ({"time_limit": -1.0}, "time_limit must be positive seconds or None, got"),
        ({"time_limit": float("nan")}, "time_limit must be positive seconds or None, got"),
        ({"proof_nodes": -1}, "proof_nodes must be at least 0, got -1"),
    ],
)
def test_limits_that_are_none_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_engine("highs", KNAPSACK, **settings)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1.0, 1.0, 1.0], "infeasible for the model"),
        ([np.nan, 0.0, 0.0], "infeasible for the model"),
        ([np.inf, 0.0, 0.0], "infeasible for the model"),
        ([5.0, 0.0, 0.0], "infeasible for the model"),
        ([0.5, 0.0, 0.0], "infeasible for the model"),
        ([1.0, 0.0], r"must have shape \(3,\), got \(2,\)"),
    ],
)
def test_an_answer_that_no_tolerance_explains_is_an_error(answer: Any, message: str) -> None:
    outcome = CheckedEngine(Says(answer), KNAPSACK).solve(np.ones(3))
    assert (outcome.status, outcome.x) == (Status.ERROR, None)
    assert re.search(message, outcome.message)


def test_the_message_names_a_big_m() -> None:
    milp = MILP([[1.0, -1e9]], row_upper=0.0, lower=[8.0, 0.0], upper=[np.inf, 1.0], integer=[False, True])
    outcome = CheckedEngine(Says([8.0, 8e-9]), milp).solve(np.ones(2))
    assert "coefficients as large as 1e+09: use a smaller big M" in outcome.message


def test_an_answer_within_tolerance_is_rounded() -> None:
    outcome = CheckedEngine(Says([1.0, 1.0 - 1e-7, -1e-7]), KNAPSACK).solve(-np.ones(3))
    assert outcome.x is not None
    assert outcome.x.tolist() == [1.0, 1.0, 0.0]
    assert not np.signbit(outcome.x).any()


@pytest.mark.parametrize("engine", names(integers=True))
def test_no_engine_calls_a_worse_solution_optimal(engine: str) -> None:
    if not available()[engine]:
        pytest.skip(f"the engine {engine} is not installed")
    outcome = make_engine(engine, LARGE).solve(LARGE_COSTS)
    assert outcome.status is Status.OPTIMAL
    assert LARGE_COSTS @ outcome.x == LARGE_BEST


def test_a_wrong_claim_of_an_engine_is_replaced_by_the_proven_optimum() -> None:
    feasible = [1000.0, 978.0, 1000.0, 750.0]
    for says in (Says(feasible), Says([1000.0, 979.0, 1000.0, 750.0]), Says(None, Status.INFEASIBLE)):
        outcome = CheckedEngine(says, LARGE).solve(LARGE_COSTS)
        assert outcome.status is Status.OPTIMAL
        assert outcome.x is not None
        assert LARGE_COSTS @ outcome.x == LARGE_BEST


def test_what_is_not_proven_is_feasible_with_a_gap_that_holds() -> None:
    outcome = CheckedEngine(Says([1000.0, 978.0, 1000.0, 750.0]), LARGE, proof_nodes=1).solve(LARGE_COSTS)
    assert outcome.status is Status.FEASIBLE
    assert outcome.x is not None
    value = LARGE_COSTS @ outcome.x
    assert value - outcome.gap * abs(value) <= LARGE_BEST <= value
    assert "1 nodes did not prove" in outcome.message


def test_a_model_that_is_neither_solved_nor_proven_infeasible_is_an_error() -> None:
    # together the rows say 2 x + 10 z = 2501, which neither of them shows by itself
    milp = MILP([[6.0, -3.0, 10.0], [4.0, -3.0, 0.0]], [3001.0, 500.0], [3001.0, 500.0], upper=3000.0)
    for nodes, status in ((1, Status.ERROR), (2000, Status.INFEASIBLE)):
        outcome = CheckedEngine(Says(None, Status.INFEASIBLE), milp, proof_nodes=nodes).solve(np.ones(3))
        assert (outcome.status, outcome.x) == (status, None)


def test_no_proof_takes_the_engines_word_but_never_an_infeasible_answer() -> None:
    word = CheckedEngine(Says([1000.0, 978.0, 1000.0, 750.0]), LARGE, proof_nodes=0).solve(LARGE_COSTS)
    assert word.status is Status.OPTIMAL
    broken = CheckedEngine(Says([1000.0, 979.0, 1000.0, 750.0]), LARGE, proof_nodes=0).solve(LARGE_COSTS)
    assert (broken.status, broken.x) == (Status.ERROR, None)


def test_the_time_limit_holds_for_the_proof_too() -> None:
    outcome = CheckedEngine(Says([1000.0, 978.0, 1000.0, 750.0]), LARGE, time_limit=1e-9).solve(LARGE_COSTS)
    assert outcome.status is Status.TIME_LIMIT
    assert "the time limit ended the proof" in outcome.message


def test_small_integers_need_no_proof() -> None:
    engine = make_engine("highs", MILP([[3.0, 4.0]], row_upper=700.0, upper=400.0))
    engine.solve(-np.ones(2))
    assert engine._prover is None  # type: ignore[attr-defined]


def test_rows_that_make_large_bounds_small_spare_the_proof_and_rows_that_reach_far_need_it() -> None:
    small = CheckedEngine(Says([1.0, 2.0]), MILP([[3.0, 4.0]], row_upper=700.0, upper=1e9))
    assert small.solve(-np.ones(2)).x is not None
    assert small._prover is None
    far = MILP([[100_000.0, 99_999.0, 1.0]], row_upper=199_999.0)  # all three exceed it by 1
    outcome = CheckedEngine(Says([1.0, 1.0, 1.0]), far).solve(np.array([-3.0, -2.0, -1.0]))
    assert (outcome.status, outcome.x.tolist()) == (Status.OPTIMAL, [1.0, 1.0, 0.0])  # type: ignore[union-attr]


@pytest.mark.parametrize("gap", [-0.1, 1.5, np.nan, "small"])
def test_a_gap_is_a_share(gap: object) -> None:
    with pytest.raises(InputError, match="gap must be between 0 and 1, got"):
        make_engine("highs", MILP([[1.0]]), gap=gap)  # type: ignore[arg-type]


def test_an_engine_without_integers_has_no_gap() -> None:
    with pytest.raises(InputError, match="'batched-lp' takes no integer variables, and so no gap"):
        make_engine("batched-lp", MILP([[1.0]], integer=False), gap=0.1)
