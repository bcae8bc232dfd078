from __future__ import annotations

import pytest

from regretless.errors import InputError
from regretless.modeling import read

gurobipy = pytest.importorskip("gurobipy")


@pytest.fixture
def model():
    try:
        environment = gurobipy.Env(params={"OutputFlag": 0})
    except gurobipy.GurobiError as error:
        pytest.skip(f"no Gurobi license: {error}")
    with environment, gurobipy.Model(env=environment) as model:
        yield model


def test_pending_changes_are_read(model):
    x = model.addVars(2, 2, vtype="B", name="x")
    model.addConstr(x.sum() >= 2, name="least")
    model.setObjective(3 * x[0, 0] + x[1, 1], gurobipy.GRB.MAXIMIZE)
    milp, sense, names = read(model)
    assert (sense, names) == ("max", ("x[0,0]", "x[1,1]"))
    assert milp.names == ("x[0,0]", "x[0,1]", "x[1,0]", "x[1,1]")
    assert milp.row_lower.tolist() == [2]
    assert read(model, keep_rows=True).milp.row_names == ("least",)


def _semi(model, x):
    model.addVar(ub=3, vtype="S", name="s")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda model, x: model.addConstr(x[0] * x[0] <= 1), "quadratic constraints .*cvxpy"),
        (lambda model, x: model.setObjective(x[0] * x[1]), "quadratic objective"),
        (lambda model, x: model.addSOS(gurobipy.GRB.SOS_TYPE1, [x[0], x[1]]), "SOS"),
        (lambda model, x: model.addConstr((x[0] == 1) >> (x[1] <= 0)), "indicator"),
        (lambda model, x: model.setObjectiveN(x[0], 1), "more than one objective"),
        (_semi, "'s' is semi-continuous"),
    ],
)
def test_what_is_not_linear_is_refused_with_the_reason(model, change, reason):
    x = model.addVars(2, vtype="B", name="x")
    model.setObjective(x[0])
    change(model, x)
    with pytest.raises(InputError, match=reason):
        read(model)


def test_a_variable_that_becomes_binary_later_is_between_0_and_1(model):
    x = model.addVar(lb=-3.0, name="x")
    model.setObjective(x, gurobipy.GRB.MAXIMIZE)
    x.VType = "B"
    milp = read(model).milp
    assert (milp.lower.tolist(), milp.upper.tolist()) == ([0.0], [1.0])
