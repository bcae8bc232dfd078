"""The objective of a cvxpy problem: what its one Parameter, the predicted costs, is multiplied with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.modeling.cvxpy import LINEAR, UNSUPPORTED, affine, at_zero, element_names, linear, sorted_variables
from regretless.modeling.linear_model import LinearModel


@dataclass(frozen=True, eq=False)
class ParameterCosts:
    """An objective ``c . (G x + g) + h(x)``.

    Attributes:
        parameter: c.
        expression: the terms that hold c.
        known: h, the sum of the other terms, or ``None``.
        map: sparse G ``(d, n)``; variables and the elements of c are counted row by row.
        offset: g ``(d,)``.
    """

    parameter: Any
    expression: Any
    known: Any
    map: Any
    offset: Floats

    def names(self, variables: tuple[str, ...]) -> tuple[str, ...]:
        """Names of the costs: of the variables that they belong to, or else of the elements of the Parameter."""
        single = (np.diff(self.map.indptr) == 1).all() and (self.map.data == 1.0).all() and not self.offset.any()
        if single and len(set(self.map.indices.tolist())) == self.map.shape[0]:
            return tuple(variables[j] for j in self.map.indices)
        return tuple(element_names(self.parameter))


def in_objective(model: Any) -> list[Any]:
    """The Parameters of the objective of a ``cvxpy.Problem``."""
    return list({parameter.id: parameter for parameter in _parameters(model.objective.args[0])}.values())


def _parameters(expression: Any) -> list[Any]:
    if expression.args:
        return [parameter for part in expression.args for parameter in _parameters(part)]
    return [] if expression.variables() else expression.parameters()  # those of a variable are its bounds


def is_convex_program(model: Any) -> bool:
    """Whether a ``cvxpy.Problem`` is not linear, and its objective holds a Parameter."""
    if not in_objective(model):
        return False
    rows = ((type(row).__name__ in LINEAR, *(part.is_affine() for part in row.args)) for row in model.constraints)
    plain = not any(np.any(v.attributes.get(name)) for v in model.variables() for name in UNSUPPORTED)
    return not (plain and model.objective.args[0].is_affine() and all(all(row) for row in rows))


def linear_with_costs(model: Any) -> tuple[LinearModel, ParameterCosts]:
    """Read a linear ``cvxpy.Problem`` whose objective holds a Parameter; the objective of the result is ``h`` only.

    Raises:
        InputError: as ``parameter_costs`` and ``linear``, or the Parameter is also multiplied with numbers.
    """
    costs = parameter_costs(model, sorted_variables(model))
    parameter, before = costs.parameter, costs.parameter.value
    if costs.offset.any():
        raise InputError(
            f"the Parameter {parameter.name()!r} of the objective is multiplied with numbers and with variables; "
            "no decision changes this part: leave it out"
        )
    parameter.value = np.zeros(parameter.shape)
    try:
        return linear(model), costs
    finally:
        parameter.value = before


def parameter_costs(model: Any, variables: list[Any]) -> ParameterCosts:
    """Read the objective of a ``cvxpy.Problem``.

    Raises:
        InputError: it is not linear in exactly one Parameter, or another Parameter of the problem has no value.
    """
    parameter = _parameter(model)
    expression = model.objective.args[0]
    terms = list(expression.args) if type(expression).__name__ == "AddExpression" else [expression]
    holding = [any(p is parameter for p in term.parameters()) for term in terms]
    with_costs = sum(term for term, holds in zip(terms, holding, strict=True) if holds)
    known = [term for term, holds in zip(terms, holding, strict=True) if not holds]
    if not with_costs.is_affine():
        raise InputError(
            f"the terms of the objective that hold the Parameter {parameter.name()!r} must be linear in the variables"
        )
    G, offset = _map(with_costs, parameter, variables)
    return ParameterCosts(parameter, with_costs, sum(known) if known else None, G, offset)


def _parameter(model: Any) -> Any:
    found = in_objective(model)
    if len(found) != 1:
        raise InputError(
            "the objective of a cvxpy problem must hold exactly one Parameter, the predicted costs, got "
            f"{len(found)}: write known costs as numbers"
        )
    if any(np.any(value) for value in found[0].attributes.values()):
        raise InputError(
            f"the Parameter {found[0].name()!r} is restricted, but predicted costs may have any value: make it without "
            "attributes such as nonneg=True"
        )
    rows_and_bounds = [*model.constraints, *model.variables()]
    if any(parameter is found[0] for row in rows_and_bounds for parameter in row.parameters()):
        raise InputError(
            f"the Parameter {found[0].name()!r} is in the objective and in a constraint, but predicted costs must not "
            "change what is feasible: use another Parameter in the constraint"
        )
    for other in model.parameters():
        if other.value is None and other is not found[0]:
            raise InputError(f"the cvxpy parameter {other.name()!r} has no value; set it before reading the problem")
    return found[0]


def _map(expression: Any, parameter: Any, variables: list[Any]) -> tuple[Any, Floats]:
    """``expression = c . (G x + g)``, read off at the unit vectors."""
    rows, before = [], parameter.value
    with at_zero(variables):
        for unit in [np.zeros(parameter.size), *np.eye(parameter.size)]:
            parameter.value = unit.reshape(parameter.shape)
            rows.append(affine(expression, variables))
    parameter.value = before
    (constant_row, constant), *linear = rows
    if constant_row.nnz or constant[0]:
        raise InputError(
            "the objective of the cvxpy problem has a term that mixes the Parameter with known costs: write the known "
            "costs as a term of their own"
        )
    return sparse.csr_array(sparse.vstack([row for row, _ in linear])), np.array([part[0] for _, part in linear])
