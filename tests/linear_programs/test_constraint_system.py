from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import SolveError
from regretless.linear_programs.constraint_system import ConstraintSystem, has_huge
from regretless.milp import MILP


def test_short_rows_become_bounds_and_fixed_variables_are_removed():
    model = MILP(
        [[0.0, 2.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]],
        row_lower=[-np.inf, -np.inf, -1.0],
        row_upper=[1.0, 2.0, 1.0],
        lower=[1.0, 0.0, 0.0],
        upper=[1.0, 1.0, 4.0],
    )
    system = ConstraintSystem.of(model).reduced()
    assert system.keep.tolist() == [1, 2]
    assert system.upper.tolist() == [0.5, 4.0]
    assert system.A.tolist() == [[1.0, 1.0]]
    assert system.row_upper.tolist() == [1.0]
    assert system.offset.tolist() == [1.0, 0.0, 0.0]


def test_a_row_with_one_variable_bounds_it_from_both_sides_in_its_units():
    model = MILP([[2.0, 0.0], [0.0, -4.0]], row_lower=[1.0, -8.0], row_upper=[3.0, -2.0], upper=9.0)
    system = ConstraintSystem.of(model).without_short_rows()
    assert (system.lower.tolist(), system.upper.tolist()) == ([0.5, 0.5], [1.5, 2.0])
    assert len(system.A) == 0


def test_variables_are_moved_to_start_at_zero():
    system = ConstraintSystem.of(
        MILP([[1.0, 1.0, 1.0]], row_upper=9.0, lower=[2, -np.inf, -np.inf], upper=[5, 3, np.inf])
    ).reduced()
    assert system.lower.tolist() == [0.0, -np.inf, -np.inf]
    assert system.upper.tolist() == [3.0, 0.0, np.inf]
    assert system.offset.tolist() == [2.0, 3.0, 0.0]
    assert system.row_upper.tolist() == [4.0]


def test_numbers_too_large_to_bind_count_as_infinite():
    system = ConstraintSystem.of(MILP([[1.0, 1.0]], row_upper=1e30, upper=1e21))
    assert np.isposinf(system.row_upper).all()
    assert np.isposinf(system.upper).all()


def test_bounds_that_stand_for_infinity_are_infinite_and_large_values_are_kept():
    lower, upper = [0.0, -(2.0**53), 1e13, 1e13, -1e9], [1e14, 2.0**63, 1e13, 2e13, 1e9]
    system = ConstraintSystem.of(MILP(np.ones((1, 5)), row_upper=1e12, lower=lower, upper=upper))
    assert system.lower.tolist() == [0.0, -np.inf, 1e13, 1e13, -1e9]
    assert system.upper.tolist() == [np.inf, np.inf, 1e13, np.inf, 1e9]
    assert system.row_upper.tolist() == [np.inf]


def test_a_model_with_bounds_that_stand_for_infinity_is_told_from_one_without():
    assert has_huge(MILP([[1.0]], row_upper=1.0, upper=1e14))
    assert has_huge(MILP([[1.0]], row_lower=-1e14, row_upper=1.0))
    assert not has_huge(MILP([[1.0]], row_upper=1.0, lower=-1e9, upper=np.inf))
    assert not has_huge(MILP([[1.0]], row_upper=1e21, lower=1e13, upper=1e13))


@pytest.mark.parametrize(
    "model",
    [
        MILP([[0.0, 0.0]], row_lower=1.0),
        MILP([[1.0, 0.0]], row_lower=2.0),
        MILP([[1.0, 0.0], [1.0, 1.0]], row_lower=[1.0, 2.5], row_upper=[np.inf, 3.0], upper=[1.0, 1.0]),
    ],
)
def test_contradictions_in_single_rows_are_infeasible(model):
    with pytest.raises(SolveError, match="infeasible"):
        ConstraintSystem.of(model).reduced()
