from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from regretless.deciding.violations import least_infeasible, total_violation, violations
from regretless.milp import MILP

from .models import all_points, random_model


def test_a_decision_without_violation_is_feasible_and_the_reverse() -> None:
    for seed in range(30):
        milp = random_model(seed)
        x = all_points(milp)
        assert ((total_violation(milp, x, (milp.A @ x.T).T) <= 1e-6) == milp.check(x)).all()


def test_violated_rows_and_variables_are_named_the_largest_first() -> None:
    milp = MILP(
        [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], row_lower=[-np.inf, 1.0, 0.0], row_upper=[10.0, 50.0, 100.0], upper=20
    )
    found = violations(milp, np.array([0.0, 30.0]), ("a", "b"), ("sum", "least", "far"))
    assert [str(one) for one in found] == [
        "row sum: 30 is above 10", "row least: 0 is below 1", "variable b: 30 is above 20",
    ]  # fmt: skip
    x = np.array([[0.0, 30.0]])
    assert total_violation(milp, x, (milp.A @ x.T).T)[0] == pytest.approx(20 / 10 + 1 / 1 + 10 / 20)


def test_the_violation_of_a_row_with_tiny_coefficients_is_told_as_the_row_is_written() -> None:
    milp = MILP([[1e-5, 2e-5]], row_upper=1e-5)
    found = violations(milp, np.array([1.0, 1.0]), ("a", "b"), ("capacity",))
    assert [str(one) for one in found] == ["row capacity: 3e-05 is above 1e-05"]


def test_a_row_of_large_integers_is_violated_by_one_unit() -> None:
    milp = MILP([[3_000_000.0, 2_000_003.0]], row_upper=5_000_000.0)
    found = violations(milp, np.array([1.0, 1.0]), ("a", "b"), ("budget",))
    assert [one.name for one in found] == ["budget"]


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
