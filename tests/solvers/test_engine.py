from __future__ import annotations

import numpy as np
import pytest

from regretless.solvers import engine as module
from regretless.solvers.engine import EngineEntry, available, finished, names, relative_gap, told_apart
from regretless.types import Status


def test_the_default_engine_is_in_the_table_and_installed() -> None:
    assert names()[0] == "highs"
    assert available()["highs"]
    assert list(available()) == names()


def test_an_engine_whose_package_is_missing_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(module.TABLE, "ghost", EngineEntry("ghost_module", "no_such_package", "ghost", "MIT"))
    assert available()["ghost"] is False


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


def test_a_solve_with_a_gap_left_is_feasible_and_not_optimal() -> None:
    assert finished(-7.0, -7.0) == (Status.OPTIMAL, 0.0)
    assert finished(0.0, -1e-9) == (Status.OPTIMAL, 0.0)
    assert finished(-1e9, -1e9 - 100.0) == (Status.OPTIMAL, 0.0)
    assert finished(1e9, 1e9 - 1e4) == (Status.FEASIBLE, pytest.approx(1e-5))
    assert finished(10.0, 9.0) == (Status.FEASIBLE, 0.1)
