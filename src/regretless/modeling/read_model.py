"""Read a model file or a model object into a ``MILP``."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from regretless.errors import InputError
from regretless.family import Family
from regretless.milp import MILP
from regretless.modeling.convex import ConvexProgram
from regretless.modeling.cost_parameter import in_objective, is_convex_program, linear_with_costs
from regretless.modeling.cost_variables import cost_columns
from regretless.modeling.linear_model import LinearModel, canonical
from regretless.types import Sense

# The package of a model's class, so that nothing is imported to find the reader: the module with
# ``linear(model) -> LinearModel``, the class it reads, and an attribute that every object of this class has.
READERS: dict[str, tuple[str, str, str]] = {
    "cpmpy": ("regretless.modeling.cpmpy", "cpmpy.Model", "constraints"),
    "pyomo": ("regretless.modeling.pyomo", "pyomo.environ.ConcreteModel", "component_data_objects"),
    "cvxpy": ("regretless.modeling.cvxpy", "cvxpy.Problem", "objective"),
    "ortools.math_opt": ("regretless.modeling.mathopt", "mathopt.Model", "export_model"),
    "gurobipy": ("regretless.modeling.gurobipy", "gurobipy.Model", "getA"),
    "linopy": ("regretless.modeling.linopy", "linopy.Model", "matrices"),
}
FILES = "regretless.modeling.model_files"


@dataclass(frozen=True)
class ModelRead:
    """A model, ready for ``Problem(milp, sense=sense)``; unpacks as ``milp, sense, cost_names``.

    Attributes:
        milp: the model; its ``names`` are the names of the variables. A convex problem of cvxpy that is not linear is a
            ``ConvexProgram`` instead.
        sense: sense of the objective.
        cost_names: names of the variables that the predicted costs belong to, in the order of the costs; for a
            Parameter that does not belong to single variables, of its elements.
    """

    milp: MILP | ConvexProgram
    sense: Sense
    cost_names: tuple[str, ...]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.milp, self.sense, self.cost_names))


def read(
    model: Any,
    cost_variables: str | Sequence[str] | None = None,
    *,
    constant: float = 0.0,
    keep_rows: bool = False,
) -> ModelRead:
    """Read a model: the path of an ``.mps`` or ``.lp`` file (``.gz`` too), or an object of a modeling library.

    The objective becomes ``c . x[cost_variables] + h . x + constant``: the predicted costs ``c`` replace the
    coefficients of the model on the cost variables, its coefficients on all other variables are the known costs ``h``.
    Variables and rows keep their order; a row on a single variable becomes a bound. Where the objective of a cvxpy
    problem holds a Parameter, this is the predicted costs, and all other terms are known. A convex problem that is not
    linear is not turned into arrays.

    Args:
        model: a path, or a model of CPMpy, Pyomo, cvxpy, OR-Tools MathOpt, gurobipy or linopy.
        cost_variables: names, or a pattern such as ``"x_*"``, of the variables that the predicted costs belong to;
            ``None`` for the Parameter of the objective (cvxpy), or else for the nonzeros of the objective.
        constant: added to the constant of the objective, for libraries that cannot hold one (linopy).
        keep_rows: keep every row as it is written, with its name, so that ``Family.vary`` can vary it by name.

    Returns:
        The model, its sense and the names of the cost variables.

    Raises:
        InputError: the model cannot be represented (the message says why), or no variable has such a name.
        FileError: the file is missing or damaged.
        MissingDependencyError: the library is not installed.
    """
    reader = _reader(model)
    if reader == READERS["cvxpy"][0] and is_convex_program(model):
        return _convex(model, cost_variables, constant)
    if reader == READERS["cvxpy"][0] and cost_variables is None and in_objective(model):
        plain, costs = linear_with_costs(model)
        return _as_arrays(canonical(plain, keep_rows=keep_rows), costs.map, costs.names(plain.names), constant)
    linear = canonical(importlib.import_module(reader).linear(model), keep_rows=keep_rows)
    chosen = cost_columns(linear.names, linear.objective, cost_variables)
    n, d, known = len(linear.names), len(chosen), linear.objective.copy()
    known[chosen] = 0.0
    cost_map = sparse.csr_array((np.ones(d), (np.arange(d), chosen)), shape=(d, n))
    cost_names = tuple(linear.names[j] for j in chosen)
    return _as_arrays(replace(linear, objective=known), cost_map, cost_names, constant)


def _as_arrays(linear: LinearModel, cost_map: Any, cost_names: tuple[str, ...], constant: float) -> ModelRead:
    """The model whose predicted costs belong to ``cost_map``, and whose objective holds the known costs."""
    fixed, n = linear.objective, len(linear.names)
    every = cost_map.shape == (n, n) and (cost_map != sparse.eye_array(n, format="csr")).nnz == 0
    milp = MILP(
        linear.A,
        row_lower=linear.row_lower,
        row_upper=linear.row_upper,
        lower=linear.lower,
        upper=linear.upper,
        integer=linear.integer,
        cost_map=None if every else cost_map,
        fixed_cost=fixed if fixed.any() else None,
        constant=linear.constant + float(constant),
        names=linear.names,
        row_names=linear.row_names,
    )
    return ModelRead(milp, linear.sense, cost_names)


def model_and_sense(model: Any, sense: Sense | None) -> tuple[Any, Sense]:
    """Read a model where it is not a ``MILP`` yet; a sense that contradicts the model's own is refused."""
    if model is None or isinstance(model, MILP | Family | ConvexProgram):
        return model, sense or (model.sense if isinstance(model, ConvexProgram) else "min")
    found = model if isinstance(model, ModelRead) else read(model)
    if sense not in (None, found.sense):
        raise InputError(f"sense is {found.sense!r} in the model, got {sense!r}: leave it out")
    return found.milp, found.sense


def _convex(model: Any, cost_variables: str | Sequence[str] | None, constant: float) -> ModelRead:
    if cost_variables is not None or constant:
        raise InputError(
            "the predicted costs of a convex cvxpy problem are the Parameter of its objective, and its constant is one "
            "of the terms: leave out cost_variables= and constant="
        )
    program = ConvexProgram(model)
    return ModelRead(program, program.sense, program.cost_names)


def _reader(model: Any) -> str:
    if isinstance(model, str | os.PathLike):
        return FILES
    for ancestor in type(model).__mro__:
        for prefix, (reader, kind, attribute) in READERS.items():
            if f"{ancestor.__module__}.".startswith(f"{prefix}."):
                if not hasattr(model, attribute):
                    raise InputError(f"the model must be a {kind}, got {type(model).__qualname__}")
                return reader
    remedy = "other libraries can write an .mps file"
    if callable(model):
        remedy = "a function from costs to a solution is an oracle: Problem(oracle=function, dimension=d)"
    raise InputError(
        "a model must be the path of an .mps or .lp file, or an object of one of the classes "
        f"{', '.join(kind for _, kind, _ in READERS.values())}, got "
        f"{type(model).__module__}.{type(model).__qualname__}; {remedy}"
    )
