from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.solvers.integer_rows import integer_bounds, integer_rows


@given(
    st.lists(st.integers(-30, 30), min_size=3, max_size=3),
    st.sampled_from([1, 2, 3, 7, 10, 100]),
    st.integers(-60, 60),
    st.integers(0, 60),
)
def test_rows_of_integers_hold_for_the_same_points(numerators, denominator, low, width):
    row = np.array(numerators) / denominator
    milp = MILP([row], row_lower=low / denominator, row_upper=(low + width) / denominator, lower=-1.0, upper=2.0)
    lower, upper = integer_bounds(milp)
    (row_of_integers,) = integer_rows(milp, lower, upper)
    for point in product(range(-1, 3), repeat=3):
        exact = sum(Fraction(a, denominator) * x for a, x in zip(numerators, point, strict=True))
        activity = sum(a * point[j] for a, j in zip(row_of_integers.coefficients, row_of_integers.columns, strict=True))
        inside = Fraction(low, denominator) <= exact <= Fraction(low + width, denominator)
        assert (row_of_integers.lower <= activity <= row_of_integers.upper) == inside


def test_bounds_are_rounded_inwards_but_not_by_noise():
    lower, upper = integer_bounds(MILP([[1.0, 1.0]], lower=[0.2, 1.0 - 1e-9], upper=[2.8, 3.0 - 1e-9]))
    assert (lower.tolist(), upper.tolist()) == ([1.0, 1.0], [2.0, 3.0])


def test_a_sum_of_tenths_keeps_its_last_unit():
    milp = MILP([[0.1] * 8], row_upper=0.7999999999999999)  # a loop's sum; sum() of Python 3.12 is exact
    assert milp.row_upper[0] < 0.8
    (row,) = integer_rows(milp, *integer_bounds(milp))
    assert (row.coefficients, row.upper) == ([1] * 8, 8)


def test_a_row_that_outgrows_64_bits_is_refused():
    milp = MILP([[1.0, 0.000001]], row_upper=1e50, upper=2.0**50)
    with pytest.raises(InputError, match="row 0 becomes too large"):
        list(integer_rows(milp, *integer_bounds(milp)))
