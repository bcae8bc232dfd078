from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.modeling import read

linopy = pytest.importorskip("linopy")
pd = pytest.importorskip("pandas")


def _model():
    model = linopy.Model()
    index = pd.Index(["a", "b"], name="i"), pd.RangeIndex(2, name="t")
    x = model.add_variables(binary=True, coords=index, name="x")
    y = model.add_variables(lower=-1, upper=5, name="y")
    model.add_constraints(x.sum("t") + y <= 3, name="limit")
    model.add_objective(x.sum() + 2 * y, sense="max")
    return model, x, y


def test_elements_are_named_by_their_coordinates():
    milp, sense, names = read(_model()[0], "x")
    assert (sense, names) == ("max", ("x[a,0]", "x[a,1]", "x[b,0]", "x[b,1]"))
    assert milp.names[-1] == "y"
    assert milp.A.toarray().tolist() == [[1, 1, 0, 0, 1], [0, 0, 1, 1, 1]]
    assert milp.fixed_cost.tolist() == [0, 0, 0, 0, 2]
    assert milp.integer.tolist() == [True] * 4 + [False]


def test_a_model_without_rows_is_read():
    model = linopy.Model()
    x = model.add_variables(lower=0, upper=2, coords=[[0, 1]], name="x")
    model.add_objective(x.sum())
    assert read(model).milp.A.shape == (0, 2)


def test_masked_elements_are_left_out():
    model = linopy.Model()
    x = model.add_variables(0, 1, coords=[pd.RangeIndex(3, name="i")], mask=pd.Series([True, False, True]), name="x")
    model.add_constraints(x.sum() >= 1, name="c")
    model.add_objective(x.sum())
    assert read(model).cost_names == ("x[0]", "x[2]")


def test_a_quadratic_objective_is_refused():
    model, _, y = _model()
    model.add_objective(y * y, overwrite=True)
    with pytest.raises(InputError, match="quadratic"):
        read(model)


def test_sos_constraints_are_refused():
    model, x, _ = _model()
    if not hasattr(model, "add_sos_constraints"):
        pytest.skip("this linopy has no SOS constraints")
    model.add_sos_constraints(x, sos_type=1, sos_dim="t")
    with pytest.raises(InputError, match="SOS"):
        read(model)


def test_semi_continuous_variables_are_refused():
    model, _, _ = _model()
    try:
        model.add_variables(lower=1, upper=3, name="s", semi_continuous=True)
    except TypeError:
        pytest.skip("this linopy has no semi-continuous variables")
    with pytest.raises(InputError, match="'s' is semi-continuous"):
        read(model)


def test_indicator_constraints_are_refused():
    model, _, y = _model()
    if not hasattr(model, "add_indicator_constraints"):
        pytest.skip("this linopy has no indicator constraints")
    b = model.add_variables(binary=True, name="b")
    model.add_indicator_constraints(b, 1, y, "<=", 1)
    with pytest.raises(InputError, match="indicator"):
        read(model)


def test_integers_keep_their_bounds_and_rows_their_sides():
    model = linopy.Model()
    n = model.add_variables(lower=0, upper=7, integer=True, name="n")
    m = model.add_variables(lower=0, upper=7, name="m")
    for name, row in (("most", n + m <= 5), ("least", n - m >= 1), ("same", n + 2 * m == 4)):
        model.add_constraints(row, name=name)
    model.add_objective(n + m)
    milp = read(model).milp
    assert (milp.integer.tolist(), milp.upper.tolist()) == ([True, False], [7, 7])
    assert (milp.row_lower.tolist(), milp.row_upper.tolist()) == ([-np.inf, 1, 4], [5, np.inf, 4])
