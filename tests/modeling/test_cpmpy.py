from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.modeling import read
from regretless.problem import Problem
from regretless.types import Status

cp = pytest.importorskip("cpmpy")


def test_linear_comparisons_become_rows_as_they_stand():
    x, b = cp.intvar(0, 5, shape=2, name="x"), cp.boolvar(name="b")
    model = cp.Model(
        [
            2 * x[0] + 3 * x[1] <= 7,
            x[1] - 1 > x[0] * 2,
            ~b + x[0] >= 1,
            -(x[0] - b) <= 0,
            [x[0] < 4, x[1] >= 1],
            b | ~b,
        ],
        maximize=3 * x[0] - x[1] + 2 * ~b + 5,
    )
    milp, sense, names = read(model)
    assert (sense, names, milp.constant) == ("max", ("x[0]", "x[1]", "b"), 7.0)
    assert milp.A.toarray().tolist() == [[2, 3, 0], [2, -1, 0], [1, 0, -1], [1, 0, -1]]
    assert milp.row_lower.tolist() == [-np.inf, -np.inf, 0, 0]
    assert milp.row_upper.tolist() == [7, -2, np.inf, np.inf]
    assert (milp.lower.tolist(), milp.upper.tolist()) == ([0, 1, 0], [3, 5, 1])


def _constraints(a, b, c):
    return {
        "implication": c.implies(a + b <= 3),
        "reified": (a <= 1) == c,
        "all different": cp.AllDifferent([a, b, c]),
        "not equal": a != b,
        "maximum": cp.max([a, b]) <= 2,
        "absolute value": abs(a - b) <= 1,
        "product": a * b <= 4,
        "or": c | (a > 2),
        "element": cp.cpm_array([3, 1, 2, 0])[a] >= b,
    }


@pytest.mark.parametrize("name", _constraints(*cp.intvar(0, 3, shape=2), cp.boolvar()))
def test_other_constraints_are_linearized_without_losing_or_adding_a_point(name):
    a, b, c = cp.intvar(0, 3, name="a"), cp.intvar(0, 3, name="b"), cp.boolvar(name="c")
    constraint = _constraints(a, b, c)[name]
    milp, _, names = read(cp.Model(constraint, minimize=a + b + c))
    assert names == ("a", "b", "c")
    for point in product(range(4), range(4), range(2)):
        for variable, value in zip((a, b, c), point, strict=True):
            variable._value = value
        # the point, and whatever the auxiliary variables make of it
        fixed = replace(milp, lower=[*point, *milp.lower[3:]], upper=[*point, *milp.upper[3:]])
        found = Problem(fixed).solve([[0.0, 0.0, 0.0]]).status[0] is Status.OPTIMAL
        assert found == bool(constraint.value()), point


def test_a_nonlinear_objective_is_refused():
    a, b = cp.intvar(0, 3, shape=2)
    with pytest.raises(InputError, match=r"objective .* not linear"):
        read(cp.Model(a + b <= 3, minimize=a * b))


def test_a_constraint_that_is_false_makes_the_model_infeasible():
    a = cp.intvar(0, 3, name="a")
    milp, _, _ = read(cp.Model([a >= 1, False], minimize=a))
    assert [str(status) for status in Problem(milp).solve([[1.0]]).status] == ["infeasible"]


def test_a_constraint_that_cpmpy_finds_to_be_false_makes_the_model_infeasible():
    a, b = cp.intvar(0, 3, name="a"), cp.intvar(0, 3, name="b")
    for constraint in (cp.BoolVal(False), cp.max([a, b]) >= 7):
        answer = Problem(read(cp.Model(constraint, minimize=a + b))).solve([[1.0, 1.0]])
        assert [str(status) for status in answer.status] == ["infeasible"]


def test_a_variable_may_have_the_name_of_an_operator():
    a, b, c = cp.intvar(0, 3, name="sum"), cp.boolvar(name="and"), cp.boolvar(name="or")
    milp = read(cp.Model([b, c, a >= 1], minimize=a)).milp
    assert (milp.names, milp.lower.tolist()) == (("sum", "and", "or"), [1.0, 1.0, 1.0])
