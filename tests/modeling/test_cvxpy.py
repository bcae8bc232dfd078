from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.modeling import read

cp = pytest.importorskip("cvxpy")
inf = np.inf


def test_arrays_are_read_row_by_row_with_their_names():
    x = cp.Variable(2, name="x", boolean=True)
    y = cp.Variable((2, 2), name="y", bounds=[-1, np.array([[1.0, 2.0], [3.0, 4.0]])])
    rows = [cp.sum(y, axis=1) >= x, y[0, 1] + x[0] == 2, y <= 3.5]
    problem = cp.Problem(cp.Maximize(np.array([1.0, 2.0]) @ x + cp.sum(y) - 4), rows)
    milp, sense, names = read(problem, "y")
    assert (sense, milp.constant) == ("max", -4.0)
    assert milp.names == ("x[0]", "x[1]", "y[0,0]", "y[0,1]", "y[1,0]", "y[1,1]")
    assert names == milp.names[2:]
    assert milp.A.toarray().tolist() == [[1, 0, -1, -1, 0, 0], [0, 1, 0, 0, -1, -1], [1, 0, 0, 1, 0, 0]]
    assert (milp.row_lower.tolist(), milp.row_upper.tolist()) == ([-inf, -inf, 2], [0, 0, 2])
    assert milp.upper.tolist() == [1, 1, 1, 2, 3, 3.5]
    assert milp.fixed_cost.tolist() == [1, 2, 0, 0, 0, 0]


def test_bounds_may_be_parameters():
    most = cp.Parameter(2, value=[3.0, 1.0])
    x = cp.Variable(2, name="x", bounds=[-1, 2 * most])
    milp = read(cp.Problem(cp.Maximize(cp.sum(x)))).milp
    assert (milp.lower.tolist(), milp.upper.tolist()) == ([-1.0, -1.0], [6.0, 2.0])


def test_an_expression_whose_value_has_another_size_is_refused():
    x = cp.Variable((3, 3), name="x")
    with pytest.raises(InputError, match="to 9 values in place of 3: write it in another way"):
        read(cp.Problem(cp.Maximize(cp.sum(x)), [cp.upper_tri(x) <= 1.0]))


def test_coefficients_that_contradict_the_value_of_an_expression_are_refused(monkeypatch):
    x = cp.Variable((2, 2), name="x")
    rows = [2 * x <= np.array([[1.0, 2.0], [3.0, 4.0]])]
    assert read(cp.Problem(cp.Maximize(cp.sum(x)), rows)).milp.upper.tolist() == [0.5, 1.0, 1.5, 2.0]
    order = np.arange(4).reshape(2, 2, order="F").reshape(-1)
    broken = property(lambda self: {x: np.eye(4)[order]})  # as of hstack of arrays of three dimensions in cvxpy 1.9
    monkeypatch.setattr(type(rows[0].args[0] - rows[0].args[1]), "grad", broken)
    with pytest.raises(InputError, match="coefficients that contradict its value: write it in another way"):
        read(cp.Problem(cp.Maximize(cp.sum(x)), rows))


def test_bounds_written_as_constraints_and_attributes_are_one():
    a, b = cp.Variable(2, name="x"), cp.Variable(2, name="x", nonneg=True)
    one = read(cp.Problem(cp.Minimize(cp.sum(a)), [a >= 0, cp.sum(a) - a[1] <= 3, -a[1] >= -3]))
    other = read(cp.Problem(cp.Minimize(cp.sum(b)), [b <= 3]))
    assert one.milp.fingerprint == other.milp.fingerprint


def test_some_elements_may_be_whole():
    x = cp.Variable(3, name="x", integer=([0, 2],), bounds=[0, 4])
    assert read(cp.Problem(cp.Minimize(cp.sum(x)), [cp.sum(x) >= 1])).milp.integer.tolist() == [True, False, True]


def test_parameters_count_with_their_values_and_variables_keep_theirs():
    x, p = cp.Variable(2, name="x", nonneg=True), cp.Parameter(2, name="p")
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [p @ x == 1])
    with pytest.raises(InputError, match="parameter 'p'"):
        read(problem)
    p.value, x.value = [1.0, 2.0], [0.25, 0.75]
    assert read(problem).milp.A.toarray().tolist() == [[1.0, 2.0]]
    assert x.value.tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda x: cp.Problem(cp.Minimize(cp.sum_squares(x))), "objective .* not affine"),
        (lambda x: cp.Problem(cp.Minimize(cp.sum(x)), [cp.abs(x) <= 1]), "not affine"),
        (lambda x: cp.Problem(cp.Minimize(cp.sum(x)), [cp.SOC(x[0], x)]), "SOC"),
        (lambda x: cp.Problem(cp.Minimize(cp.trace(cp.Variable((2, 2), PSD=True)))), "PSD"),
        (lambda x: cp.Problem(cp.Minimize(cp.sum(x)), [cp.real(cp.Variable(2, complex=True)) >= x]), "is complex"),
    ],
)
def test_what_is_not_linear_is_refused_with_the_reason(make, reason):
    with pytest.raises(InputError, match=reason):
        read(make(cp.Variable(2, name="x")))


def test_one_sided_rows_that_cvxpy_builds_itself_keep_their_side():
    x = cp.Variable(2, name="x")
    one = read(cp.Problem(cp.Minimize(cp.sum(x)), [cp.NonPos(cp.sum(x) - 3), cp.NonNeg(x[0] - x[1] + 1)])).milp
    assert (one.row_lower.tolist(), one.row_upper.tolist()) == ([-inf, -1], [3, inf])


def test_variables_are_in_the_order_of_their_creation():
    later = cp.Variable(name="b"), cp.Variable(name="a")
    rows = [later[1] + 2 * later[0] <= 3, later[0] >= 0, later[1] >= 0]
    milp = read(cp.Problem(cp.Maximize(later[1] + later[0]), rows)).milp
    assert (milp.names, milp.A.toarray().tolist()) == (("b", "a"), [[2, 1]])
