from __future__ import annotations

import pytest

from regretless.errors import InputError
from regretless.modeling import read
from regretless.problem import Problem

pe = pytest.importorskip("pyomo.environ")


def _model():
    model = pe.ConcreteModel()
    model.x = pe.Var([0, 1], ["a", "b"], domain=pe.Binary)
    model.y = pe.Var(bounds=(-1, 5))
    model.inner = pe.Block()
    model.inner.q = pe.Var(domain=pe.NonNegativeIntegers)
    model.limit = pe.Constraint(expr=(1, sum(model.x[k] for k in model.x) + model.y + 2, 4))
    model.inner.link = pe.Constraint(expr=model.inner.q >= model.y)
    model.cost = pe.Objective(expr=3 * model.x[0, "a"] + model.y - 1, sense=pe.maximize)
    return model


def test_indexed_variables_and_blocks_keep_their_names():
    milp, sense, names = read(_model(), ["x", "y"])
    assert (sense, milp.constant) == ("max", -1.0)
    assert milp.names == ("x[0,a]", "x[0,b]", "x[1,a]", "x[1,b]", "y", "inner.q")
    assert names == milp.names[:5]
    assert read(_model(), keep_rows=True).milp.row_names == ("limit", "inner.link")
    assert milp.A.toarray().tolist() == [[1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, -1]]
    assert (milp.row_lower.tolist(), milp.row_upper.tolist()) == ([-1, -float("inf")], [2, 0])
    assert milp.integer.tolist() == [True] * 4 + [False, True]


def test_what_is_deactivated_is_left_out():
    model = _model()
    model.limit.deactivate()
    assert read(model).milp.A.shape[0] == 1


def test_a_fixed_variable_has_its_value_as_both_bounds():
    model = _model()
    model.y.fix(2.0)
    milp = read(model, "x").milp
    assert (milp.lower[4], milp.upper[4]) == (2.0, 2.0)
    assert (milp.row_upper[0], milp.fixed_cost[4], milp.constant) == (0.0, 1.0, -1.0)


def test_the_cost_of_a_fixed_variable_can_be_predicted():
    model = _model()
    model.y.fix(2.0)
    milp, sense, names = read(model)
    assert names == ("x[0,a]", "y")
    answer = Problem(milp, sense=sense).solve([[0.0, 5.0]])
    assert answer.objective.item() == 5.0 * 2.0 - 1.0, "its coefficient in the model does not count"
    assert model.y.fixed
    model.cost.set_value(pe.exp(model.y) + model.x[0, "a"])  # linear only because y is fixed
    assert read(model).cost_names == ("x[0,a]",)


def _quadratic(model):
    model.limit.deactivate()
    model.square = pe.Constraint(expr=model.y**2 <= 3)


def _two_objectives(model):
    model.other = pe.Objective(expr=model.y)


def _quadratic_objective(model):
    model.cost.set_value(model.y**2)


def _sos(model):
    model.sos = pe.SOSConstraint(var=model.x, sos=1)


def _foreign(model):
    other = pe.ConcreteModel()
    other.z = pe.Var()
    model.foreign = pe.Constraint(expr=other.z + model.y <= 1)


def _fixed_without_value(model):
    model.y.fix()


def _nan(model):
    model.side = pe.Param(mutable=True, initialize=float("nan"), within=pe.Any)
    model.late = pe.Constraint(expr=model.x[0, "a"] + model.y <= model.side)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_quadratic, "'square' .* not linear.*quadratic constraints .*cvxpy"),
        (_two_objectives, "2 active objectives"),
        (_quadratic_objective, "objective .* not linear"),
        (_sos, "SOSConstraint 'sos'"),
        (_foreign, "'z', which does not belong"),
        (_fixed_without_value, "'y' is fixed but has no value"),
        (_nan, "a bound of the row 'late' is NaN"),
    ],
)
def test_what_cannot_be_represented_is_refused_with_the_reason(change, reason):
    model = _model()
    change(model)
    with pytest.raises(InputError, match=reason):
        read(model)


def test_an_abstract_model_is_refused():
    with pytest.raises(InputError, match="create_instance"):
        read(pe.AbstractModel())


def test_a_kernel_model_is_refused():
    kernel = pytest.importorskip("pyomo.kernel")
    with pytest.raises(InputError, match=r"ConcreteModel, got one of pyomo\.kernel"):
        read(kernel.block())
