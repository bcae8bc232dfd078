from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.modeling.cost_parameter import is_convex_program, parameter_costs

cp = pytest.importorskip("cvxpy")


def read(objective, *rows):
    model = cp.Problem(cp.Minimize(objective), list(rows))
    return parameter_costs(model, sorted(model.variables(), key=lambda variable: variable.id))


def test_the_map_from_variables_to_costs_is_read_off():
    x, y, c = cp.Variable((2, 2), name="x"), cp.Variable(name="y"), cp.Parameter(2, name="c")
    costs = read(c @ (cp.sum(x, axis=1) - 3 * y + np.array([1.0, 2.0])))
    assert costs.map.toarray().tolist() == [[1, 1, 0, 0, -3], [0, 0, 1, 1, -3]]
    assert costs.offset.tolist() == [1.0, 2.0]
    assert costs.known is None
    assert costs.names(("a", "b", "d", "e", "f")) == ("c[0]", "c[1]")


def test_costs_of_single_variables_have_their_names_row_by_row():
    x, c = cp.Variable((2, 2), name="x"), cp.Parameter((2, 2), name="c")
    costs = read(cp.sum(cp.multiply(c, x)) + cp.norm(x))
    assert costs.map.toarray().tolist() == np.eye(4).tolist()
    assert costs.names(("x00", "x01", "x10", "x11")) == ("x00", "x01", "x10", "x11")


def test_costs_of_anything_else_have_the_names_of_the_parameter():
    x, c = cp.Variable(2, name="x"), cp.Parameter(2, name="c")
    for g in (2 * x, x + 1, cp.cumsum(x), cp.hstack([x[0], x[0]])):
        assert read(c @ g + cp.norm(x)).names(("a", "b")) == ("c[0]", "c[1]")


def test_terms_without_the_parameter_are_known_and_values_are_left_as_they_were():
    x, c = cp.Variable(2, name="x"), cp.Parameter(2, value=[5.0, 6.0])
    x.value = [1.0, 2.0]
    costs = read(c @ x + cp.sum_squares(x) - 3)
    assert costs.known.value == 2.0
    assert (c.value.tolist(), x.value.tolist()) == ([5.0, 6.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x, c: cp.norm(x), "exactly one Parameter, the predicted costs, got 0"),
        (lambda x, c: c @ x + cp.Parameter(2) @ x, "exactly one Parameter, the predicted costs, got 2"),
        (lambda x, c: cp.Parameter(2, nonneg=True, name="p") @ cp.abs(x), "'p' is restricted"),
        (lambda x, c: c[0] * cp.norm(x), "must be linear in the variables"),
        (lambda x, c: 2 * (c @ x + cp.sum(x)), "mixes the Parameter with known costs"),
    ],
)
def test_objectives_that_are_not_linear_in_one_parameter_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        read(make(cp.Variable(2, name="x"), cp.Parameter(2)))


def test_other_parameters_need_values():
    x, c, radius = cp.Variable(2), cp.Parameter(2), cp.Parameter(name="radius", nonneg=True)
    with pytest.raises(InputError, match="'radius' has no value"):
        read(c @ x, cp.norm(x) <= radius)
    radius.value = 1.0
    assert read(c @ x, cp.norm(x) <= radius).map.shape == (2, 2)


def test_only_problems_that_are_not_linear_and_hold_a_parameter_are_convex_programs():
    x, c = cp.Variable(2), cp.Parameter(2)
    least = cp.Minimize(c @ x)
    assert not is_convex_program(cp.Problem(least, [x >= 0, cp.sum(x) == 1]))
    assert not is_convex_program(cp.Problem(cp.Minimize(cp.sum(x)), [cp.norm(x) <= 1]))
    assert is_convex_program(cp.Problem(least, [cp.norm(x) <= 1]))
    assert is_convex_program(cp.Problem(least, [cp.SOC(x[0], x)]))
    assert is_convex_program(cp.Problem(cp.Minimize(c @ x + cp.sum_squares(x))))
    assert is_convex_program(cp.Problem(cp.Minimize(cp.Parameter() * cp.trace(cp.Variable((2, 2), PSD=True)))))


def test_the_predicted_costs_must_not_be_in_a_constraint():
    x, c = cp.Variable(2), cp.Parameter(2, name="c")
    with pytest.raises(InputError, match="'c' is in the objective and in a constraint"):
        read(c @ x, cp.norm(x) <= 1, c @ x <= 1)
