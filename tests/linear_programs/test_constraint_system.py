from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import SolveError
from regretless.linear_programs.constraint_system import ConstraintSystem
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
