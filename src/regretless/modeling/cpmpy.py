"""Reader of CPMpy models."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from regretless.errors import InputError, MissingDependencyError
from regretless.modeling.linear_model import LinearModel, Row, stacked
from regretless.optional import need

NUMBERS = (bool, int, float, np.generic)
Sums = dict[int, float]


class _NotLinearError(Exception):
    """An expression that is not a sum of constants times variables."""


def linear(model: Any) -> LinearModel:
    """Read a ``cpmpy.Model``.

    Linear comparisons become rows as they are. Everything else (global constraints, implications, ``!=``) is linearized
    by CPMpy; its auxiliary variables come after those of the model. Variables are in the order of their first
    appearance, the objective first, as in an ``.lp`` file.
    """
    columns = _Columns()
    objective, constant = _objective(model, columns)
    rows, rest = [], []
    for constraint in _flat(model.constraints):
        try:
            rows.append(columns.row(constraint))
        except _NotLinearError:
            rest.append(constraint)
            columns.add(constraint)
    for constraint in _linearized(rest):
        try:
            rows.append(columns.row(constraint))
        except _NotLinearError:
            raise InputError(f"the CPMpy model needs {constraint}, which no linear row can represent") from None
    variables = columns.variables
    A, row_lower, row_upper = stacked(rows, len(variables))
    costs = np.zeros(len(variables))
    costs[list(objective)] = list(objective.values())
    return LinearModel(
        A=A,
        row_lower=row_lower,
        row_upper=row_upper,
        lower=[variable.lb for variable in variables],
        upper=[variable.ub for variable in variables],
        integer=np.ones(len(variables), dtype=bool),
        objective=costs,
        constant=constant,
        sense="min" if model.objective_is_min in (True, None) else "max",
        names=tuple(str(variable.name) for variable in variables),
    )


class _Columns:
    """The variables so far, and expressions as sums over their columns."""

    def __init__(self) -> None:
        self.variables: list[Any] = []
        self._column: dict[int, int] = {}

    def column(self, variable: Any) -> int:
        # By identity: == on CPMpy variables builds a constraint.
        if id(variable) not in self._column:
            self._column[id(variable)] = len(self.variables)
            self.variables.append(variable)
        return self._column[id(variable)]

    def add(self, expression: Any) -> None:
        find = need("cpmpy.transformations.get_variables", pip="cpmpy", why="read CPMpy models").get_variables
        for variable in find(expression):
            self.column(variable)

    def sums(self, terms: list[tuple[float, Any]]) -> Sums:
        sums: Sums = defaultdict(float)
        for factor, variable in terms:
            sums[self.column(variable)] += factor
        return sums

    def row(self, constraint: Any) -> Row:
        if isinstance(constraint, bool | np.bool_) or type(constraint).__name__ == "BoolVal":
            return Row({}, 0.0 if constraint else 1.0, np.inf)
        if type(constraint).__name__ != "Comparison":
            return self._clause(constraint)
        # Both sides are split before any variable gets a column: a failure must not change the order of the columns.
        (left, left_constant), (right, right_constant) = (_terms(side) for side in constraint.args)
        coefficients = self.sums(left)
        for j, value in self.sums(right).items():
            coefficients[j] -= value
        name, bound = constraint.name, right_constant - left_constant
        integer = all(float(value).is_integer() for value in (*coefficients.values(), bound))
        if (name in ("<", ">") and not integer) or name not in ("==", "<=", ">=", "<", ">"):
            raise _NotLinearError
        # Integers: x < 3 is x <= 2.
        low = {"==": bound, ">=": bound, ">": bound + 1.0}.get(name, -np.inf)
        high = {"==": bound, "<=": bound, "<": bound - 1.0}.get(name, np.inf)
        return Row(dict(coefficients), low, high)

    def _clause(self, constraint: Any) -> Row:
        """A Boolean variable, or a disjunction of Boolean variables: at least one is true."""
        literals = constraint.args if _is_operator(constraint, "or") else [constraint]
        if not all(type(literal).__name__ in ("_BoolVarImpl", "NegBoolView") for literal in literals):
            raise _NotLinearError
        terms = [_terms(literal) for literal in literals]
        coefficients = self.sums([term for part, _ in terms for term in part])
        return Row(dict(coefficients), 1.0 - sum(constant for _, constant in terms), np.inf)


def _terms(expression: Any) -> tuple[list[tuple[float, Any]], float]:
    """Split ``expression`` into terms ``factor * variable`` and a constant."""
    terms: list[tuple[float, Any]] = []
    constant = 0.0
    todo = [(1.0, expression)]
    while todo:
        factor, part = todo.pop()
        if isinstance(part, NUMBERS):
            constant += factor * float(part)
        elif type(part).__name__ == "NegBoolView":
            constant += factor
            todo.append((-factor, part._bv))
        elif hasattr(part, "lb") and hasattr(part, "ub") and not getattr(part, "args", None):
            terms.append((factor, part))
        else:
            todo += reversed(_operands(factor, part))
    return terms, constant


def _operands(factor: float, part: Any) -> list[tuple[float, Any]]:
    """The operands of a linear operator, with their factors."""
    name, args = getattr(part, "name", None), list(getattr(part, "args", []))
    if name == "sum":
        return [(factor, term) for term in args]
    if name == "wsum":
        return [(factor * float(weight), term) for weight, term in zip(args[0], args[1], strict=True)]
    if name == "sub":
        return [(factor, args[0]), (-factor, args[1])]
    if name == "-" and len(args) == 1:
        return [(-factor, args[0])]
    if name == "mul":
        for one, other in (args, args[::-1]):
            if isinstance(one, NUMBERS):
                return [(factor * float(one), other)]
    raise _NotLinearError


def _objective(model: Any, columns: _Columns) -> tuple[Sums, float]:
    expression = getattr(model, "objective_", None)
    if expression is None:
        return {}, 0.0
    try:
        terms, constant = _terms(expression)
    except _NotLinearError:
        raise InputError(
            f"the objective {expression} of the CPMpy model is not linear, so it cannot be predicted"
        ) from None
    return columns.sums(terms), constant


def _flat(constraints: Any) -> list[Any]:
    flat: list[Any] = []
    for constraint in constraints:
        if isinstance(constraint, list | tuple | np.ndarray):
            flat += _flat(constraint)
        elif _is_operator(constraint, "and"):
            flat += _flat(constraint.args)
        else:
            flat.append(constraint)
    return flat


def _is_operator(expression: Any, name: str) -> bool:
    """Whether an expression is this operator, and not a variable with such a name."""
    return type(expression).__name__ == "Operator" and expression.name == name


def _linearized(constraints: list[Any]) -> list[Any]:
    if not constraints:
        return []
    try:
        solver = need("cpmpy.solvers.highs", pip="cpmpy>=1.0", why="linearize CPMpy constraints").CPM_highs()
        return _flat(solver.transform(constraints))
    except MissingDependencyError as error:
        raise InputError(f"the constraint {constraints[0]} is not linear, and {error}") from error
    except Exception as error:
        raise InputError(f"CPMpy cannot linearize the constraint {constraints[0]}: {error}") from error
