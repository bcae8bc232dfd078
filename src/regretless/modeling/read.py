"""Read a model file or a model object into a ``MILP``."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.modeling.convex import ConvexProgram
from regretless.modeling.cost_parameter import is_convex_program
from regretless.modeling.linear_expressions import Linear, canonical
from regretless.modeling.select import select
from regretless.types import Sense

# By the module that a model's class comes from, so that nothing is imported to find out.
READERS: dict[str, str] = {
    "cpmpy": "regretless.modeling.cpmpy",
    "pyomo": "regretless.modeling.pyomo",
    "cvxpy": "regretless.modeling.cvxpy",
    "ortools.math_opt": "regretless.modeling.mathopt",
    "gurobipy": "regretless.modeling.gurobipy",
    "linopy": "regretless.modeling.linopy",
}
FILES = "regretless.modeling.model_files"


@dataclass(frozen=True)
class ModelRead:
    """A model, ready for ``Problem(milp, sense=sense)``; unpacks as ``milp, sense, cost_names``.

    Attributes:
        milp: the model; its ``names`` are the variables' names. A convex problem of cvxpy that is not linear is a
            ``ConvexProgram`` instead.
        sense: of the model's objective.
        cost_names: names of the variables that the predicted costs belong to, in the order of the costs.
    """

    milp: MILP | ConvexProgram
    sense: Sense
    cost_names: tuple[str, ...]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.milp, self.sense, self.cost_names))


def read(model: Any, cost_variables: str | Sequence[str] | None = None, *, constant: float = 0.0) -> ModelRead:
    """Read a model: the path of an ``.mps`` or ``.lp`` file (``.gz`` too), or an object of a modelling library.

    The objective becomes ``c . x[cost_variables] + h . x + constant``: the predicted costs ``c`` take the place of the
    model's own coefficients on the cost variables, its coefficients on all others are the known costs ``h``.
    Variables and rows keep their order; a row on a single variable becomes a bound. A convex problem of cvxpy that is
    not linear is not turned into arrays; its predicted costs are the Parameter of its objective.

    Args:
        model: a path, or a model of CPMpy, Pyomo, cvxpy, OR-Tools MathOpt, gurobipy or linopy.
        cost_variables: names, or a pattern such as ``"x_*"``, of the variables that the predicted costs belong to;
            ``None`` for the objective's non-zeros.
        constant: added to the objective's own constant, for libraries that cannot hold one (linopy).

    Returns:
        The model, its sense and the names of the cost variables.

    Raises:
        InputError: the model cannot be represented (the message says why), or no variable has such a name.
        FileError: the file is missing or garbled.
        MissingDependencyError: the library is not installed.
    """
    reader = _reader(model)
    if reader == READERS["cvxpy"] and hasattr(model, "objective") and is_convex_program(model):
        return _convex(model, cost_variables, constant)
    linear = canonical(importlib.import_module(reader).linear(model))
    chosen = select(linear.names, linear.objective, cost_variables)
    return _assembled(linear, chosen, float(constant))


def _reader(model: Any) -> str:
    if isinstance(model, str | os.PathLike):
        return FILES
    for ancestor in type(model).__mro__:
        for prefix, reader in READERS.items():
            if ancestor.__module__ == prefix or ancestor.__module__.startswith(f"{prefix}."):
                return reader
    raise InputError(
        "a model must be the path of an .mps or .lp file, or an object of CPMpy, Pyomo, cvxpy, OR-Tools MathOpt, "
        f"gurobipy or linopy, got {type(model).__module__}.{type(model).__qualname__}; "
        "other libraries can write an .mps file"
    )


def _convex(model: Any, cost_variables: str | Sequence[str] | None, constant: float) -> ModelRead:
    if cost_variables is not None or constant:
        raise InputError(
            "the predicted costs of a convex cvxpy problem are the Parameter of its objective, and its constant is one "
            "of the terms: leave out cost_variables= and constant="
        )
    program = ConvexProgram(model)
    return ModelRead(program, program.sense, program.cost_names)


def _assembled(linear: Linear, chosen: list[int], constant: float) -> ModelRead:
    n, d = len(linear.names), len(chosen)
    fixed = linear.objective.copy()
    fixed[chosen] = 0.0
    every = chosen == list(range(n))
    milp = MILP(
        linear.A,
        row_lower=linear.row_lower,
        row_upper=linear.row_upper,
        lower=linear.lower,
        upper=linear.upper,
        integer=linear.integer,
        cost_map=None if every else sparse.csr_array((np.ones(d), (np.arange(d), chosen)), shape=(d, n)),
        fixed_cost=fixed if fixed.any() else None,
        constant=linear.constant + constant,
        names=linear.names,
    )
    return ModelRead(milp, linear.sense, tuple(linear.names[j] for j in chosen))
