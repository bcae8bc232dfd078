from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import SolveError
from regretless.linear_programs.presolve import presolve
from regretless.milp import MILP


@pytest.mark.parametrize("seed", range(10))
def test_the_start_is_a_strictly_feasible_point(random_model, seed):
    model = random_model(seed)
    system, form = presolve(model)
    x = system.offset.copy()
    x[system.keep] += form.start[: form.n].numpy()
    assert model.relax().check(x, tolerance=1e-9).all()
    assert bool(((form.start - form.lower > 1e-6) | (form.has_lower == 0)).all())
    assert bool(((form.upper - form.start > 1e-6) | (form.has_upper == 0)).all())


def test_bounds_that_always_hold_with_equality_become_equalities():
    # x + y >= 2 leaves (1, 1); z + w <= 0 leaves (0, 0); u + v and v + u with a sum of 2 in all is an equality
    A = np.zeros((4, 6))
    A[0, :2], A[1, 2:4], A[2, 4:], A[3, 4:] = 1.0, 1.0, (1.0, 2.0), (-1.0, -2.0)
    model = MILP(A, row_lower=[2, -np.inf, 1.5, -1.5], row_upper=[np.inf, 0.0, 9, 9])
    system, form = presolve(model)
    assert system.keep.tolist() == [4, 5]
    assert system.offset[:4].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert form.equalities == len(form.A) == 1


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rows_that_hold_with_equality_only_together_become_equalities_from_both_sides(sign):
    # u + v <= 1 and v + w <= 1 against u + 2 v + w >= 2
    rows, bounds = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [-1.0, -2.0, -1.0]]), np.array([1.0, 1.0, -2.0])
    given = {"row_upper": bounds} if sign > 0 else {"row_lower": -bounds}
    _, form = presolve(MILP(sign * rows, **given))
    assert form.equalities == len(form.A) == 2


def test_infeasibility_that_no_single_row_shows_is_reported():
    A = [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]
    with pytest.raises(SolveError, match="no feasible point"):
        presolve(MILP(A, row_lower=[1.2, 1.2, -1], row_upper=[2, 2, 0.3]))
