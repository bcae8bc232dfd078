from __future__ import annotations

from types import SimpleNamespace

import pytest

from regretless.errors import InputError
from regretless.modeling import mathopt as mathopt_reader
from regretless.modeling import read

mathopt = pytest.importorskip("ortools.math_opt.python.mathopt")


def test_deleted_and_unnamed_variables_do_not_disturb_the_order():
    model = mathopt.Model()
    x = [model.add_variable(lb=0, ub=3, is_integer=True) for _ in range(3)]
    model.add_linear_constraint((x[0] + 2 * x[2] + 2 >= 1) <= 6)
    model.delete_variable(x[1])
    model.minimize(x[0] + 4 * x[2] + 1)
    milp, sense, names = read(model)
    assert (sense, len(names), milp.constant) == ("min", 2, 1.0)
    assert milp.A.toarray().tolist() == [[1, 2]]
    assert (milp.row_lower.tolist(), milp.row_upper.tolist()) == ([-1], [4])


def test_rows_keep_their_names():
    model = mathopt.Model()
    x = [model.add_binary_variable() for _ in range(2)]
    for name in ("weight", "count"):
        model.add_linear_constraint(x[0] + x[1] <= 1, name=name)
    model.minimize(x[0] - x[1])
    assert read(model, keep_rows=True).milp.row_names == ("weight", "count")


def _quadratic_objective(model, x):
    model.minimize(x * x)


def _second_objective(model, x):
    model.add_auxiliary_objective(priority=1, expr=x)


def _indicator(model, x):
    model.add_indicator_constraint(indicator=model.add_binary_variable(), implied_constraint=x <= 1)


def _quadratic_constraint(model, x):
    model.add_quadratic_constraint(x * x <= 1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_quadratic_objective, "quadratic objective"),
        (_second_objective, "more than one objective"),
        (_indicator, "indicator"),
        (_quadratic_constraint, "quadratic constraints .*cvxpy"),
    ],
)
def test_what_is_not_linear_is_refused_with_the_reason(change, reason):
    model = mathopt.Model()
    x = model.add_variable(lb=0, ub=3, name="x")
    change(model, x)
    with pytest.raises(InputError, match=reason):
        read(model, "x")


def test_other_ortools_models_are_refused():
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    with pytest.raises(InputError, match=r"mathopt.Model.* got ortools.sat"):
        read(cp_model.CpModel())


def test_variables_without_any_name_are_numbered():
    model = mathopt.Model()
    x = [model.add_variable(lb=0, ub=3) for _ in range(2)]
    model.minimize(x[0] + x[1])
    assert read(model).cost_names == ("x0", "x1")
    proto = model.export_model()
    del proto.variables.names[:]  # the field is empty in some versions of OR-Tools
    assert mathopt_reader.linear(SimpleNamespace(export_model=lambda: proto)).names == ("", "")
