"""Models of CPMpy."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from regretless.errors import InputError, MissingDependencyError
from regretless.modeling.linear_expressions import Linear, Row, stacked
from regretless.optional import need


class _NotLinearError(Exception):
    """An expression that is no sum of constants times variables."""


def linear(model: Any) -> Linear:
    """Read a ``cpmpy.Model``.

    Linear comparisons become rows as they stand. What else there is (global constraints, implications, ``!=``) goes
    through CPMpy's own linearisation, with auxiliary variables behind the model's own. Variables stand in the order of
    their first appearance, the objective first, as in an ``.lp`` file.
    """
    if not hasattr(model, "constraints"):
        raise InputError(f"a CPMpy model must be a cpmpy.Model, got {type(model).__qualname__}")
    columns = _Columns()
    objective, constant = _objective(model, columns)
    rows, rest = [], []
    for constraint in _flat(model.constraints):
        try:
            rows.append(columns.row(constraint))
        except _NotLinearError:
            rest.append(constraint)
            columns.add(constraint)
    for constraint in _linearised(rest):
        try:
            rows.append(columns.row(constraint))
        except _NotLinearError:
            raise InputError(f"the CPMpy model needs {constraint}, which no linear row can represent") from None
    variables = columns.variables
    if not variables:
        raise InputError("the CPMpy model has no variables")
    A, row_lower, row_upper = stacked(rows, len(variables))
    costs = np.zeros(len(variables))
    costs[list(objective)] = list(objective.values())
    return Linear(
        A=A,
        row_lower=row_lower,
        row_upper=row_upper,
        lower=np.array([variable.lb for variable in variables], dtype=float),
        upper=np.array([variable.ub for variable in variables], dtype=float),
        integer=np.ones(len(variables), dtype=bool),
        objective=costs,
        constant=constant,
        sense="min" if model.objective_is_min in (True, None) else "max",
        names=tuple(str(variable.name) for variable in variables),
    )


class _Columns:
    """The variables met so far, and expressions as sums over them."""

    def __init__(self) -> None:
        self.variables: list[Any] = []
        self._column: dict[Any, int] = {}

    def column(self, variable: Any) -> int:
        # by identity: == on CPMpy variables builds a constraint
        if id(variable) not in self._column:
            self._column[id(variable)] = len(self.variables)
            self.variables.append(variable)
        return self._column[id(variable)]

    def add(self, expression: Any) -> None:
        find = need("cpmpy.transformations.get_variables", pip="cpmpy", why="read CPMpy models").get_variables
        for variable in find(expression):
            self.column(variable)

    def terms(self, expression: Any) -> tuple[dict[int, float], float]:
        """``expression = sum terms x + constant``."""
        sums: dict[int, float] = defaultdict(float)
        constant = 0.0
        todo = [(1.0, expression)]
        while todo:
            factor, part = todo.pop()
            if isinstance(part, bool | int | float | np.generic):
                constant += factor * float(part)
            elif type(part).__name__ == "NegBoolView":
                constant += factor
                todo.append((-factor, part._bv))
            elif hasattr(part, "lb") and hasattr(part, "ub") and not getattr(part, "args", None):
                sums[self.column(part)] += factor
            else:
                todo += reversed(_split(factor, part))
        return dict(sums), constant

    def row(self, constraint: Any) -> Row:
        name = getattr(constraint, "name", None)
        if isinstance(constraint, bool | np.bool_):
            return Row({}, 0.0 if constraint else 1.0, np.inf)
        if type(constraint).__name__ != "Comparison":
            return self._clause(constraint)
        _plain(constraint)
        left, right = (self.terms(side) for side in constraint.args)
        coefficients = defaultdict(float, left[0])
        for j, value in right[0].items():
            coefficients[j] -= value
        bound = right[1] - left[1]
        whole = all(float(value).is_integer() for value in (*coefficients.values(), bound))
        if (name in ("<", ">") and not whole) or name not in ("==", "<=", ">=", "<", ">"):
            raise _NotLinearError
        # whole numbers: x < 3 is x <= 2
        low = {"==": bound, ">=": bound, ">": bound + 1.0}.get(name, -np.inf)
        high = {"==": bound, "<=": bound, "<": bound - 1.0}.get(name, np.inf)
        return Row(dict(coefficients), low, high)

    def _clause(self, constraint: Any) -> Row:
        """A Boolean variable, or a disjunction of them: at least one is true."""
        literals = constraint.args if getattr(constraint, "name", None) == "or" else [constraint]
        if not all(_is_literal(literal) for literal in literals):
            raise _NotLinearError
        coefficients: dict[int, float] = defaultdict(float)
        bound = 1.0
        for literal in literals:
            terms, constant = self.terms(literal)
            bound -= constant
            for j, value in terms.items():
                coefficients[j] += value
        return Row(dict(coefficients), bound, np.inf)


def _is_literal(expression: Any) -> bool:
    return type(expression).__name__ in ("_BoolVarImpl", "NegBoolView")


def _split(factor: float, part: Any) -> list[tuple[float, Any]]:
    """One step into a linear operator."""
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
            if isinstance(one, bool | int | float | np.generic):
                return [(factor * float(one), other)]
    raise _NotLinearError


def _plain(constraint: Any) -> None:
    """Refuse before any variable gets its column: a constraint that fails half-way must not change the order."""
    todo = list(constraint.args)
    while todo:
        part = todo.pop()
        if isinstance(part, bool | int | float | np.generic) or (
            hasattr(part, "lb") and not getattr(part, "args", None)
        ):
            continue
        if type(part).__name__ != "NegBoolView":
            todo += [term for _, term in _split(1.0, part)]


def _objective(model: Any, columns: _Columns) -> tuple[dict[int, float], float]:
    expression = getattr(model, "objective_", None)
    if expression is None:
        return {}, 0.0
    try:
        return columns.terms(expression)
    except _NotLinearError:
        raise InputError(
            f"the objective {expression} of the CPMpy model is not linear, so it cannot be predicted"
        ) from None


def _flat(constraints: Any) -> list[Any]:
    flat: list[Any] = []
    for constraint in constraints:
        if isinstance(constraint, list | tuple | np.ndarray):
            flat += _flat(constraint)
        elif getattr(constraint, "name", None) == "and":
            flat += _flat(constraint.args)
        else:
            flat.append(constraint)
    return flat


def _linearised(constraints: list[Any]) -> list[Any]:
    if not constraints:
        return []
    try:
        solver = need("cpmpy.solvers.highs", pip="cpmpy>=0.9.28", why="linearise CPMpy constraints").CPM_highs()
        return _flat(solver.transform(constraints))
    except MissingDependencyError as error:
        raise InputError(f"the constraint {constraints[0]} is not linear, and {error}") from error
    except Exception as error:
        raise InputError(f"CPMpy cannot linearise the constraint {constraints[0]}: {error}") from error
