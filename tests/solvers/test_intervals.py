from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regretless.milp import MILP
from regretless.solvers.answers import AnswerCheck
from regretless.solvers.intervals import Intervals


@given(st.integers(0, 2**32 - 1))
def test_no_feasible_point_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.integers(-5, 6, (2, 3)).astype(float)
    low = rng.integers(-12, 8, 2).astype(float)
    milp = MILP(A, low, low + rng.integers(0, 9, 2), lower=-2.0, upper=3.0)
    check = AnswerCheck(milp)
    box = Intervals(check).tightened(check.lower, check.upper)
    points = [*map(np.array, product(range(-2, 4), repeat=3))]
    points = [p for p, inside in zip(points, milp.check(points), strict=True) if inside]
    if box is None:
        assert not points
    else:
        assert all((p >= box[0]).all() and (p <= box[1]).all() for p in points)


def test_a_row_bounds_its_variables() -> None:
    check = AnswerCheck(MILP([[3.0, 1.0]], row_upper=700.0, upper=1e9))
    box = Intervals(check).tightened(check.lower, check.upper)
    assert box is not None
    assert box[1].tolist() == [233.0, 700.0]


def test_rows_that_are_not_of_integers_and_boxes_without_bounds_change_nothing() -> None:
    for milp in (
        MILP([[3.0, 1.0]], row_upper=7.0, upper=9.0, integer=[True, False]),
        MILP([[3.0, 1.0]], row_upper=7.0, upper=[9.0, np.inf]),
    ):
        check = AnswerCheck(milp)
        box = Intervals(check).tightened(check.lower, check.upper)
        assert box is not None
        assert box[1].tolist() == milp.upper.tolist()
