from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.solvers import engine as module
from regretless.solvers.engine import (
    EngineEntry,
    available,
    guarded,
    make_engine,
    names,
    relative_gap,
    snapped,
    told_apart,
)
from regretless.types import Status

KNAPSACK = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)


def test_the_default_engine_is_in_the_table_and_installed() -> None:
    assert names()[0] == "highs"
    assert available()["highs"]
    assert list(available()) == names()


def test_an_engine_whose_package_is_missing_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(module.TABLE, "ghost", EngineEntry("ghost_module", "no_such_package", "ghost", "MIT"))
    assert available()["ghost"] is False


def test_the_engine_gets_the_model_the_time_limit_and_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    fake = ModuleType("fake_engine")
    fake.build = lambda milp, **settings: seen.update(milp=milp, **settings)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fake_engine", fake)
    monkeypatch.setitem(module.TABLE, "fake", EngineEntry("fake_engine", "numpy", "numpy", "MIT"))
    make_engine("fake", KNAPSACK, time_limit=2.0, level=3)
    assert seen == {"milp": KNAPSACK, "time_limit": 2.0, "level": 3}


def test_an_unknown_engine_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"engine must be one of highs, .*got 'cplex'"):
        make_engine("cplex", KNAPSACK)


@pytest.mark.parametrize("time_limit", [0.0, -1.0, float("nan")])
def test_a_time_limit_that_is_no_time_is_refused(time_limit: float) -> None:
    with pytest.raises(InputError, match="time_limit must be positive seconds or None, got"):
        make_engine("highs", KNAPSACK, time_limit=time_limit)


def test_snapping_rounds_whole_variables_and_keeps_the_bounds() -> None:
    milp = MILP(np.zeros((0, 3)), lower=[0.0, 0.0, 0.25], upper=[1.0, 3.0, 0.75], integer=[True, True, False])
    x = snapped(milp, np.array([-1e-9, 1.9999999, 0.7500001]))
    assert x.tolist() == [0.0, 2.0, 0.75]
    assert not np.signbit(x).any()


def test_an_answer_that_no_tolerance_explains_is_an_error() -> None:
    assert guarded(KNAPSACK, np.array([1.0, 1.0, 1e-7]), Status.OPTIMAL).status is Status.OPTIMAL
    for garbage in ([1.0, 1.0, 1.0], [np.nan, 0.0, 0.0], [np.inf, 0.0, 0.0]):
        outcome = guarded(KNAPSACK, np.array(garbage), Status.OPTIMAL)
        assert outcome.status is Status.ERROR
        assert outcome.x is None
        assert "infeasible for the model" in outcome.message


@pytest.mark.parametrize(
    ("value", "bound", "gap"),
    [
        (10.0, 9.0, 0.1),
        (-10.0, -11.0, 0.1),
        (5.0, 5.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, -1.0, np.inf),
        (1.0, -1e30, np.inf),
    ],
)
def test_the_gap_is_relative_to_the_value(value: float, bound: float, gap: float) -> None:
    assert relative_gap(value, bound) == pytest.approx(gap)


def test_a_point_without_an_objective_tells_unbounded_from_infeasible() -> None:
    assert told_apart(Status.OPTIMAL) is Status.UNBOUNDED
    assert told_apart(Status.INFEASIBLE) is Status.INFEASIBLE
    assert told_apart(Status.TIME_LIMIT) is Status.TIME_LIMIT
