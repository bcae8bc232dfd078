from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import SolveError
from regretless.linear_programs.constraint_system import ConstraintSystem
from regretless.linear_programs.redundant_rows import (
    drop_dependent,
    drop_dominated,
    merge_parallel,
    relax_never_binding,
    without_redundant_rows,
)
from regretless.milp import MILP


def test_parallel_rows_become_one_with_the_tightest_bounds():
    model = MILP([[1.0, 2.0], [-2.0, -4.0], [0.5, 1.0]], row_lower=[0.5, -4.0, -1], row_upper=[3.0, -1.2, 1.2])
    system = merge_parallel(ConstraintSystem.of(model))
    assert system.A.tolist() == [[1.0, 2.0]]
    assert (system.row_lower.tolist(), system.row_upper.tolist()) == ([0.6], [2.0])


def test_a_row_that_no_choice_of_one_per_group_can_fill_is_dropped():
    # two groups of two, each at most one: the last row reaches at most 5 + 4, though its entries sum to 16
    A = [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [5.0, 4.0, 3.0, 4.0]]
    assert len(relax_never_binding(ConstraintSystem.of(MILP(A, row_upper=[1.0, 1.0, 9.0]))).A) == 2
    assert len(relax_never_binding(ConstraintSystem.of(MILP(A, row_upper=[1.0, 1.0, 8.9]))).A) == 3


def test_a_row_that_a_variable_without_a_lower_bound_can_fill_stays():
    model = MILP([[1.0, -1.0]], row_upper=1.5, lower=[0.0, -np.inf], upper=[1.0, 0.0])
    assert len(relax_never_binding(ConstraintSystem.of(model)).A) == 1
    bounded = MILP([[1.0, -1.0]], row_upper=1.5, lower=[0.0, 0.0], upper=[1.0, 1.0])
    assert len(relax_never_binding(ConstraintSystem.of(bounded)).A) == 0


@pytest.mark.parametrize("bounds", [{"row_lower": 2.5}, {"row_upper": -0.5}])
def test_a_row_that_cannot_reach_one_of_its_bounds_is_infeasible(bounds):
    with pytest.raises(SolveError, match="cannot reach"):
        relax_never_binding(ConstraintSystem.of(MILP([[1.0, 1.0]], **bounds)))


def test_a_dominated_row_is_dropped():
    model = MILP([[1.0, 0.0, 2.0], [2.0, 1.0, 4.0], [0.0, 3.0, 1.0]], row_upper=[2.0, 4.0, 2.0])
    assert drop_dominated(ConstraintSystem.of(model)).A.tolist() == [[2.0, 1.0, 4.0], [0.0, 3.0, 1.0]]


def test_dominance_is_not_claimed_on_variables_that_may_be_negative():
    model = MILP([[1.0, 0.0], [1.0, 1.0]], row_upper=1.0, lower=[0.0, -np.inf])
    assert len(drop_dominated(ConstraintSystem.of(model)).A) == 2


def test_dependent_equalities_go_and_contradicting_ones_are_infeasible():
    A = [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 2.0, 1.0]]
    assert len(drop_dependent(ConstraintSystem.of(MILP(A, row_lower=[1, 1, 2], row_upper=[1, 1, 2]))).A) == 2
    with pytest.raises(SolveError, match="contradict"):
        drop_dependent(ConstraintSystem.of(MILP(A, row_lower=[1, 1, 2.5], row_upper=[1, 1, 2.5])))


def test_dependent_equalities_agree_up_to_a_share_of_their_right_hand_side():
    b = [1e6, 1e6, 2e6 + 1e-3]
    A = [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 2.0, 1.0]]
    assert len(drop_dependent(ConstraintSystem.of(MILP(A, row_lower=b, row_upper=b, upper=1e7))).A) == 2


@given(seed=st.integers(0, 100_000))
def test_what_is_left_has_the_same_feasible_points(random_model, seed):
    model = random_model(seed, hard=seed % 2 == 0)
    before = ConstraintSystem.of(model).reduced()
    after = without_redundant_rows(before)
    assert len(after.A) <= len(before.A)
    rng = np.random.default_rng(seed)
    upper = np.where(np.isfinite(before.upper), before.upper, 3.0)
    lower = np.where(np.isfinite(before.lower), before.lower, -3.0)
    points = rng.uniform(lower, upper, size=(400, len(upper)))
    # put the points on the equalities first, where there are any
    equal = before.row_lower == before.row_upper
    if equal.any():
        A, b = before.A[equal], before.row_lower[equal]
        points = points - np.linalg.lstsq(A, (points @ A.T - b).T, rcond=None)[0].T
    points = points[((points >= before.lower) & (points <= before.upper)).all(axis=1)]

    def inside(system: ConstraintSystem) -> np.ndarray:
        activity = points @ system.A.T
        return ((activity >= system.row_lower - 1e-8) & (activity <= system.row_upper + 1e-8)).all(axis=1)

    assert (inside(before) == inside(after)).all()
