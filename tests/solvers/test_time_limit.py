from __future__ import annotations

import math
from typing import Any

import pytest

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.solvers.time_limit import check_time_limit


@pytest.mark.parametrize(("given", "seconds"), [(None, math.inf), (2, 2.0), (0.5, 0.5), (math.inf, math.inf)])
def test_a_limit_is_returned_in_seconds(given: Any, seconds: float) -> None:
    assert check_time_limit(given) == seconds


@pytest.mark.parametrize("given", [0, -1, math.nan, "soon", 10**400, [1.0]])
def test_anything_but_a_positive_number_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="time_limit must be positive seconds or None, got"):
        check_time_limit(given)
    with pytest.raises(InputError, match="time_limit must be positive seconds or None, got"):
        Problem(MILP([[1.0, 1.0]], row_upper=1.0), time_limit=given)
