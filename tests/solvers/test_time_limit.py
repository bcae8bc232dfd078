from __future__ import annotations

import math
from typing import Any

import pytest

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.solvers.time_limit import check_time_limit, limit_or_none


@pytest.mark.parametrize(("given", "seconds"), [(None, math.inf), (2, 2.0), (0.5, 0.5), (math.inf, math.inf)])
def test_a_limit_is_returned_in_seconds(given: Any, seconds: float) -> None:
    assert check_time_limit(given) == seconds


@pytest.mark.parametrize("given", [0, -1, math.nan, "soon", 10**400, [1.0]])
def test_anything_but_a_positive_number_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="time_limit must be positive seconds or None, got"):
        check_time_limit(given)
    with pytest.raises(InputError, match="time_limit must be positive seconds or None, got"):
        Problem(MILP([[1.0, 1.0]], row_upper=1.0), time_limit=given)


@pytest.mark.parametrize("given", [math.inf, 1e300, 1e10, None])
@pytest.mark.parametrize("executor", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_a_limit_that_no_clock_reaches_is_none(given: float | None, executor: str) -> None:
    assert limit_or_none(given) is None
    assert limit_or_none(2) == 2.0
    problem = Problem(MILP([[1.0, 1.0]], row_upper=1.0), time_limit=given, executor=executor)
    assert problem.solve([[1.0, -2.0]]).decision.tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("engine", ["highs", "scip", "cpsat"])
def test_every_engine_takes_an_infinite_limit(engine: str) -> None:
    pytest.importorskip({"highs": "highspy", "scip": "pyscipopt", "cpsat": "ortools"}[engine])
    problem = Problem(MILP([[1.0, 1.0]], row_upper=1.0), time_limit=math.inf, engine=engine)
    assert problem.solve([[1.0, -2.0]]).decision.tolist() == [[0.0, 1.0]]
