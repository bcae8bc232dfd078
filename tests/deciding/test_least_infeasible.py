from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from regretless.deciding.least_infeasible import least_infeasible
from regretless.deciding.violations import total_violation
from regretless.milp import MILP

from .models import all_points, random_model


def test_no_decision_violates_the_rows_less() -> None:
    infeasible = 0
    for seed in range(60):
        milp = random_model(seed, rows=5)
        low, high = milp.row_lower + 3, np.maximum(milp.row_lower + 3, milp.row_upper - 2)
        milp = replace(milp, row_lower=low, row_upper=high)
        x = all_points(milp)
        least = total_violation(milp, x, (milp.A @ x.T).T).min()
        found = least_infeasible(milp, time_limit=None)
        assert found is not None
        assert total_violation(milp, found[None], (milp.A @ found)[None])[0] == pytest.approx(least, abs=1e-6)
        infeasible += least > 1e-6
    assert infeasible > 10


def test_bounds_of_variables_that_leave_nothing_have_no_answer() -> None:
    milp = MILP([[1.0]], row_upper=1.0, lower=0.4, upper=0.6)
    assert least_infeasible(milp, time_limit=None) is None
