from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.modeling.cost_parameter import is_convex_program, parameter_costs
from regretless.modeling.read_model import read as read_model
from regretless.problem import Problem

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


@pytest.mark.parametrize("sense", [cp.Minimize, cp.Maximize])
def test_a_linear_problem_and_the_same_with_a_constraint_that_never_binds_decide_alike(sense):
    prices = np.array([3.0, 1.0, 2.0])
    for objective in (
        lambda c, x: c @ x,
        lambda c, x: c @ x + np.array([0.0, 5.0, -4.0]) @ x - 3,
        lambda c, x: -(c @ x) + x[0],
        lambda c, x: c @ cp.multiply(np.array([1.0, 2.0, 4.0]), x),
        lambda c, x: c[::-1] @ (cp.cumsum(x) - 2 * x),
    ):
        found = []
        for more in (lambda x: [], lambda x: [cp.norm(x) <= 9]):
            x, c = cp.Variable(3, name="x", nonneg=True), cp.Parameter(3, name="c")
            model = cp.Problem(sense(objective(c, x)), [cp.sum(x) == 1, *more(x)])
            found.append(Problem(model).solve([prices]))
        c.value = prices
        model.solve(solver="CLARABEL")
        assert found[0].objective.item() == pytest.approx(model.value, abs=1e-6)
        assert found[1].objective.item() == pytest.approx(model.value, abs=1e-6)


def test_the_costs_of_a_linear_problem_are_the_elements_of_its_parameter_also_those_that_are_zero():
    x, y, c = cp.Variable(2, name="x"), cp.Variable(name="y"), cp.Parameter(2, name="c", value=[0.0, 3.0])
    rows = [x >= 0, x <= 1, y >= -1, cp.sum(x) + y <= 1.5]
    milp, sense, names = read_model(cp.Problem(cp.Maximize(c @ x - 2 * y + 1), rows))
    assert (milp.dimension, sense, names) == (2, "max", ("x[0]", "x[1]"))
    assert (milp.fixed_cost.tolist(), milp.constant) == ([0, 0, -2], 1.0)
    assert c.value.tolist() == [0.0, 3.0]
    # Where variables are named, their coefficients are the costs, and the values of the Parameter count.
    milp, _, names = read_model(cp.Problem(cp.Maximize(c @ x - 2 * y + 1), rows), cost_variables=["y"])
    assert (milp.fixed_cost.tolist(), names) == ([0, 3, 0], ("y",))


def test_a_parameter_in_bounds_is_no_cost():
    most, c = cp.Parameter(2, value=[3.0, 1.0]), cp.Parameter(2)
    x = cp.Variable(2, name="x", bounds=[-1, most])
    assert read_model(cp.Problem(cp.Maximize(c @ x))).milp.upper.tolist() == [3.0, 1.0]
    x = cp.Variable(2, name="x", bounds=[-1, c])
    with pytest.raises(InputError, match="in the objective and in a constraint"):
        read_model(cp.Problem(cp.Maximize(c @ x)))


def test_a_parameter_times_a_number_is_refused_where_the_problem_is_linear():
    x, c = cp.Variable(2, name="x", nonneg=True), cp.Parameter(2, name="c", value=[1.0, 2.0])
    with pytest.raises(InputError, match="'c' of the objective is multiplied with numbers"):
        read_model(cp.Problem(cp.Minimize(c @ (x + 1)), [cp.sum(x) == 1]))
    assert c.value.tolist() == [1.0, 2.0]
