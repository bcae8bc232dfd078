from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.modeling.linear_model import LinearModel, Row, binary_bounds, canonical, stacked

inf = np.inf


def _linear(rows, low, high, lower=0.0, upper=1.0, names=None) -> LinearModel:
    A = np.atleast_2d(np.array(rows, dtype=float))
    n = A.shape[1]
    names = tuple(f"x{j}" for j in range(n)) if names is None else names
    box = np.full(n, lower), np.full(n, upper)
    return LinearModel(
        A, np.array(low, float), np.array(high, float), *box, np.ones(n, bool), np.ones(n), 0.0, "min", names
    )


def test_a_row_on_one_variable_is_a_bound():
    got = canonical(_linear([[2, 0], [0, -1], [1, 1]], [-inf, -inf, 1], [3, -1, inf], upper=4.0))
    assert got.A.toarray().tolist() == [[1, 1]]
    assert (got.lower.tolist(), got.upper.tolist()) == ([0.0, 1.0], [1.5, 4.0])


def test_a_row_on_one_variable_that_crosses_its_bounds_stays():
    got = canonical(_linear([[1, 0]], [3], [inf]))
    assert (got.A.shape, got.lower.tolist(), got.row_lower.tolist()) == ((1, 2), [0.0, 0.0], [3.0])


def test_the_first_coefficient_of_a_row_is_positive():
    got = canonical(_linear([[-1, 2], [0, 0]], [-inf, 1], [3, 2]))
    assert got.A.toarray().tolist() == [[1, -2], [0, 0]]
    assert (got.row_lower.tolist(), got.row_upper.tolist()) == ([-3, 1], [inf, 2])


def test_rows_without_effect_are_left_out_and_huge_bounds_are_infinite():
    got = canonical(_linear([[1, 1], [0, 0], [1, 2]], [-1e30, 0, -inf], [1e20, 0, 2], upper=1e21))
    assert got.A.toarray().tolist() == [[1, 2]]
    assert got.upper.tolist() == [inf, inf]


def test_unnamed_variables_get_names_and_names_stay_unique():
    got = canonical(_linear([[1, 1, 1]], [0], [2], names=("", "x0", "a")))
    assert got.names[1:] == ("x0", "a")
    assert len(set(got.names)) == 3
    with pytest.raises(InputError, match="'a'"):
        canonical(_linear([[1, 1]], [0], [2], names=("a", "a")))


def test_coefficients_that_are_not_finite_are_refused():
    with pytest.raises(InputError, match="NaN"):
        canonical(_linear([[np.nan, 1]], [0], [2]))


def test_rows_stack_in_order():
    A, low, high = stacked([Row({2: 1.0}, 0.0, 1.0), Row({}, -inf, 2.0), Row({0: 3.0, 1: -1.0}, 4.0, 4.0)], 3)
    assert A.toarray().tolist() == [[0, 0, 1], [0, 0, 0], [3, -1, 0]]
    assert (low.tolist(), high.tolist()) == ([0.0, -inf, 4.0], [1.0, 2.0, 4.0])


@given(st.data())
def test_the_canonical_form_has_the_same_feasible_points(data):
    n, rows = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    A = [[data.draw(st.integers(-2, 2)) for _ in range(n)] for _ in range(rows)]
    sides = st.sampled_from([(-inf, 1.0), (-inf, 0.0), (-1.0, inf), (1.0, inf), (0.0, 0.0), (-1.0, 1.0), (-inf, inf)])
    low, high = zip(*[data.draw(sides) for _ in range(rows)], strict=True)
    before = _linear(A, low, high, lower=-1.0, upper=2.0)
    got = canonical(before)
    points = np.stack(np.meshgrid(*[[-1, 0, 1, 2]] * n, indexing="ij"), -1).reshape(-1, n)
    one = MILP(before.A, before.row_lower, before.row_upper, before.lower, before.upper)
    other = MILP(got.A, got.row_lower, got.row_upper, got.lower, got.upper)
    assert np.array_equal(one.check(points), other.check(points))


def test_rows_can_be_kept_as_they_are_with_their_names():
    rows = [[-1, -1], [2, 0], [1, 1], [1, 0]]
    model = replace(_linear(rows, [-inf] * 4, [-1, 4, inf, 1]), row_names=("need", "cap", "free", "cap"))
    kept = canonical(model, keep_rows=True)
    assert kept.row_names == ("need", "#1", "#3")
    assert kept.A.toarray().tolist() == [[-1, -1], [2, 0], [1, 0]]
    assert kept.row_upper.tolist() == [-1, 4, 1]
    assert canonical(model).row_names is None


@pytest.mark.parametrize("side", ["row_lower", "row_upper", "lower", "upper"])
def test_a_bound_that_is_nan_is_refused_and_its_row_is_not_dropped(side: str) -> None:
    model = _linear([[1, 1]], [-inf], [2])
    broken = replace(model, **{side: np.full(len(getattr(model, side)), np.nan)})
    with pytest.raises(InputError, match=r"a bound of the (row 0|variable 'x0') is NaN"):
        canonical(broken)


def test_a_model_without_variables_is_refused() -> None:
    with pytest.raises(InputError, match="has no variables"):
        canonical(_linear(np.zeros((0, 0)), [], []))


def test_variables_without_a_name_get_one_and_two_of_one_name_are_refused() -> None:
    row = [[1, 1, 1]], [-inf], [2]
    assert canonical(_linear(*row, names=("", "x0", ""))).names == ("x0_", "x0", "x2")
    with pytest.raises(InputError, match="two variables of the model are called 'b'"):
        canonical(_linear(*row, names=("a", "b", "b")))


def test_binary_variables_are_between_0_and_1_and_others_keep_their_bounds():
    lower, upper = binary_bounds([-2.0, 1.0, -3.0], [5.0, 9.0, 4.0], np.array([True, True, False]))
    assert (lower.tolist(), upper.tolist()) == ([0.0, 1.0, -3.0], [1.0, 1.0, 4.0])


def test_coefficients_of_one_place_are_added_and_zeros_are_left_out():
    twice = sparse.csr_array(([1.0, 2.0, 5.0, -5.0], [0, 0, 1, 1], [0, 4]), shape=(1, 2))
    rows = canonical(replace(_linear([[0, 0]], [-inf], [3]), A=twice), keep_rows=True).A
    assert (rows.indices.tolist(), rows.data.tolist()) == ([0], [3.0])
    got = canonical(replace(_linear([[0, 0]], [-inf], [1.5]), A=twice))  # a row on one variable: 3 x_0 <= 1.5
    assert (got.A.shape, got.upper.tolist()) == ((0, 2), [0.5, 1.0])
