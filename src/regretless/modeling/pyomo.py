"""Reader of Pyomo models."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.modeling.linear_model import QUADRATIC, LinearModel, Row, stacked
from regretless.optional import need

# Any other active component restricts the feasible set in a way that rows cannot represent.
SUPPORTED = {
    "Var", "Constraint", "Objective", "Block", "Set", "Param", "Expression", "Suffix", "BuildAction", "BuildCheck",
    "RangeSet", "SetOf", "Port",
}  # fmt: skip


def linear(model: Any) -> LinearModel:
    """Read a concrete Pyomo model: its active components, in the order of their declaration.

    A fixed variable stays a variable whose two bounds are its value.
    """
    pyomo = need("pyomo.environ", pip="pyomo", why="read Pyomo models")
    if not hasattr(model, "is_constructed"):
        raise InputError("the model must be a pyomo.environ.ConcreteModel, got one of pyomo.kernel; write an .mps file")
    if not model.is_constructed():
        raise InputError("the Pyomo model is abstract; call create_instance() and read what it returns")
    for component in model.component_objects(active=True):
        if component.ctype.__name__ not in SUPPORTED:
            raise InputError(
                f"the Pyomo model has the active {component.ctype.__name__} {component.name!r}, which a linear model "
                "cannot represent; transform or deactivate it"
            )
    variables = list(model.component_data_objects(pyomo.Var, descend_into=True))
    for variable in variables:
        if variable.fixed and variable.value is None:
            raise InputError(f"the Pyomo variable {variable.name!r} is fixed but has no value; fix it to a number")
    column = {id(variable): j for j, variable in enumerate(variables)}
    rows, row_names = [], []
    for constraint in model.component_data_objects(pyomo.Constraint, active=True, descend_into=True):
        terms, offset = _terms(constraint.body, column, f"the constraint {constraint.name!r}")
        low, high = (None if side is None else pyomo.value(side) for side in (constraint.lower, constraint.upper))
        low, high = -np.inf if low is None else low - offset, np.inf if high is None else high - offset
        rows.append(Row(terms, low, high))
        row_names.append(constraint.name)
    A, row_lower, row_upper = stacked(rows, len(variables))
    targets = list(model.component_data_objects(pyomo.Objective, active=True, descend_into=True))
    if len(targets) > 1:
        raise InputError(f"the Pyomo model has {len(targets)} active objectives; deactivate all but one")
    terms, constant = _objective(targets[0].expr, variables, column) if targets else ({}, 0.0)
    objective = np.zeros(len(variables))
    objective[list(terms)] = list(terms.values())
    bounds = [_bounds(pyomo, variable) for variable in variables]
    return LinearModel(
        A=A,
        row_lower=row_lower,
        row_upper=row_upper,
        lower=[low for low, _ in bounds],
        upper=[high for _, high in bounds],
        integer=[_is_integer(variable) for variable in variables],
        objective=objective,
        constant=constant,
        sense="max" if targets and targets[0].sense != pyomo.minimize else "min",
        names=tuple(variable.name for variable in variables),
        row_names=tuple(row_names),
    )


def _objective(expression: Any, variables: list[Any], column: dict[int, int]) -> Any:
    """Terms and constant of the objective, in which a fixed variable is a term like any other.

    Pyomo adds fixed variables to the constant, but their costs may be predicted, too.
    """
    fixed = [variable for variable in variables if variable.fixed]
    try:
        for variable in fixed:
            variable.fixed = False
        return _terms(expression, column, "the objective")
    except InputError:
        if not fixed:
            raise
    finally:
        for variable in fixed:
            variable.fixed = True
    return _terms(expression, column, "the objective")  # linear only with these values


def _terms(expression: Any, column: dict[int, int], where: str) -> tuple[dict[int, float], float]:
    repn = need("pyomo.repn", pip="pyomo", why="read Pyomo models").generate_standard_repn(expression)
    if repn.is_quadratic() and where != "the objective":
        raise InputError(f"{where} of the Pyomo model is not linear: there can be no {QUADRATIC}")
    if not repn.is_linear():
        raise InputError(f"{where} of the Pyomo model is not linear, so it cannot be represented")
    for variable in repn.linear_vars:
        if id(variable) not in column:
            raise InputError(f"{where} uses the variable {variable.name!r}, which does not belong to the model")
    pairs = zip(repn.linear_vars, repn.linear_coefs, strict=True)
    return {column[id(variable)]: float(value) for variable, value in pairs}, float(repn.constant)


def _bounds(pyomo: Any, variable: Any) -> tuple[float, float]:
    if variable.fixed:
        value = float(pyomo.value(variable))
        return value, value
    low, high = variable.bounds
    return -np.inf if low is None else float(low), np.inf if high is None else float(high)


def _is_integer(variable: Any) -> bool:
    if variable.is_continuous():
        return False
    if variable.is_integer() or variable.is_binary():
        return True
    raise InputError(
        f"the domain of the variable {variable.name!r} is neither real nor integer; it cannot be represented"
    )
