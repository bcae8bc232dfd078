from __future__ import annotations

import gc
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.milp import MILP
from regretless.solvers.answers import AnswerCheck, _checks, answer_check

inf = np.inf


def settled(milp: MILP, x: Any, **settings: Any) -> list[float] | None:
    point = AnswerCheck(milp).settled(np.asarray(x, dtype=float), **settings)
    return None if point is None else point.tolist()


def test_integers_are_rounded_and_bounds_are_kept() -> None:
    milp = MILP(np.zeros((0, 3)), lower=[0.0, 0.0, 0.25], upper=[1.0, 3.0, 0.75], integer=[True, True, False])
    x = AnswerCheck(milp).settled(np.array([-1e-9, 1.9999999, 0.7500001]))
    assert x is not None
    assert x.tolist() == [0.0, 2.0, 0.75]
    assert not np.signbit(x).any()
    negative = AnswerCheck(MILP(np.zeros((0, 1)), lower=-1.0, upper=1.0)).settled(np.array([-1e-9]))
    assert negative is not None
    assert not np.signbit(negative).any()


@pytest.mark.parametrize(
    "x", [[2.0, 0.0], [-1.0, 0.0], [0.5, 0.0], [np.nan, 0.0], [inf, 0.0], [1.0, 2.5], [1.0, -0.1], [1.001, 0.0]]
)
def test_what_rounding_does_not_explain_is_refused(x: list[float]) -> None:
    assert settled(MILP([[1.0, 1.0]], upper=[1.0, 2.0], integer=[True, False]), x) is None


def test_bounds_that_hold_no_integer_are_infeasible() -> None:
    assert settled(MILP([[1.0]], row_upper=9.0, lower=0.2, upper=0.8), [0.2]) is None
    assert settled(MILP([[1.0]], row_upper=9.0, lower=0.5, upper=1.5), [1.0]) == [1.0]


def test_a_row_of_integers_has_no_tolerance_and_a_row_of_reals_has() -> None:
    milp = MILP([[1.0, 1.0]], row_upper=1e6, upper=1e6)
    assert settled(milp, [1e6, 0.0]) == [1e6, 0.0]
    assert settled(milp, [1e6, 1.0]) is None
    real = MILP([[1.0, 1.0]], row_upper=1e6, upper=1e6, integer=[True, False])
    assert settled(real, [1e6, 1.0]) == [1e6, 1.0]
    assert settled(real, [1e6, 1.0], tolerance=1e-9) is None
    irrational = MILP([[np.pi, 1.0]], row_upper=1e6 * np.pi, upper=1e6)
    assert settled(irrational, [1e6, 1.0]) == [1e6, 1.0]


def test_tenths_are_tenths() -> None:
    milp = MILP([[0.1] * 8], row_upper=0.7999999999999999)  # a loop's sum; sum() of Python 3.12 is exact
    assert milp.row_upper[0] < 0.8
    assert settled(milp, np.ones(8)) == [1.0] * 8
    assert AnswerCheck(milp).exact.all()
    assert settled(MILP([[0.125, 0.01]], row_upper=12.345, upper=200.0), [98.0, 9.0]) == [98.0, 9.0]
    assert settled(MILP([[0.125, 0.01]], row_upper=12.335, upper=200.0), [98.0, 9.0]) is None


@given(
    st.lists(st.integers(-30, 30), min_size=3, max_size=3),
    st.sampled_from([1, 2, 5, 10, 100, 1000]),
    st.integers(-60, 60),
    st.integers(0, 60),
)
def test_the_check_is_that_of_fractions(numerators: list[int], denominator: int, low: int, width: int) -> None:
    row = np.array(numerators) / denominator
    milp = MILP([row], row_lower=low / denominator, row_upper=(low + width) / denominator, lower=-1.0, upper=2.0)
    check = AnswerCheck(milp)
    assert check.exact.all()
    for point in product(range(-1, 3), repeat=3):
        exact = sum(Fraction(a, denominator) * x for a, x in zip(numerators, point, strict=True))
        inside = Fraction(low, denominator) <= exact <= Fraction(low + width, denominator)
        assert (check.settled(np.array(point, dtype=float)) is not None) == inside


def test_common_divisors_of_a_row_are_taken_out() -> None:
    check = AnswerCheck(MILP([[4.0, 6.0], [0.0, 0.0], [0.2, 0.4]], [5.0, -1.0, 0.3], [9.0, 1.0, 0.3], upper=9.0))
    assert check.rows.toarray().tolist() == [[2.0, 3.0], [0.0, 0.0], [1.0, 2.0]]
    assert check.low.tolist() == [3.0, -1.0, 2.0]
    assert check.high.tolist() == [4.0, 1.0, 1.0], "0.2 x + 0.4 y = 0.3 has no integer point"


def test_sums_that_float64_does_not_hold_are_not_called_exact() -> None:
    assert AnswerCheck(MILP([[3.0, 1.0]], row_upper=10.0, upper=2.0**50)).exact.tolist() == [True]
    assert AnswerCheck(MILP([[3.0, 1.0]], row_upper=10.0, upper=2.0**52)).exact.tolist() == [False]


def test_empty_rows_and_infinite_bounds_are_checked_as_the_model_does() -> None:
    milp = MILP([[0.0, 0.0], [1.0, -1.0]], row_lower=[-inf, -2.0], row_upper=[0.0, inf], lower=-inf, upper=inf)
    for x in ([0.0, 0.0], [5.0, 7.0], [5.0, 8.0]):
        assert (settled(milp, x) is not None) == bool(milp.check(x)[0])
    assert settled(MILP([[0.0]], row_lower=1.0), [0.0]) is None


def test_the_check_of_a_model_is_made_once_and_goes_with_it() -> None:
    milp = MILP([[1.0]])
    assert answer_check(milp) is answer_check(milp)
    gc.collect()
    before = len(_checks)
    del milp
    gc.collect()
    assert len(_checks) == before - 1


def test_bounds_without_an_integer_between_them_have_no_answer() -> None:
    check = AnswerCheck(MILP([[1.0]], row_upper=9.0, lower=0.2, upper=0.8))
    assert [check.settled(np.array([value])) for value in (0.0, 0.5, 1.0)] == [None] * 3
