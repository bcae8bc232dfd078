from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from regretless.deciding import lane_engines
from regretless.deciding.lane_engines import MODELS_PER_LANE, LaneEngines
from regretless.errors import InputError
from regretless.milp import MILP
from regretless.types import Status

MODEL = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)


def test_an_engine_is_built_once_per_thread_and_model(monkeypatch: pytest.MonkeyPatch) -> None:
    built, make = [], lane_engines.make_engine
    monkeypatch.setattr(lane_engines, "make_engine", lambda *a, **k: (built.append(1), make(*a, **k))[1])
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

    monkeypatch.setattr(lane_engines, "make_engine", no_license)
    engines.refuse_wrong_settings(MODEL)
