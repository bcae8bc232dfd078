"""Reader of cvxpy problems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.modeling.linear_model import LinearModel, binary_bounds

UNSUPPORTED = ("complex", "imag", "symmetric", "diag", "PSD", "NSD", "hermitian", "sparsity")
LINEAR = ("Equality", "Inequality", "Zero", "NonPos", "NonNeg")
CONVEX = "a convex problem is accepted as it is where its objective is linear in a cvxpy.Parameter, the predicted costs"


def linear(model: Any) -> LinearModel:
    """Read a ``cvxpy.Problem`` with an affine objective and affine constraints.

    Variables are in the order of their creation; an element of an array is called ``x[i,j]``, row by row.
    """
    if not model.objective.args[0].is_affine():
        raise InputError(f"the objective of the cvxpy problem is not affine; {CONVEX}")
    for parameter in model.parameters():
        if parameter.value is None:
            raise InputError(f"the cvxpy parameter {parameter.name()!r} has no value; set one before the call")
    variables = sorted_variables(model)
    boxes = [_box(variable) for variable in variables]
    with at_zero(variables):
        blocks = [_rows(constraint, variables) for constraint in model.constraints]
        objective, constant = affine(model.objective.args[0], variables)
    n = sum(int(variable.size) for variable in variables)
    return LinearModel(
        A=sparse.vstack([A for A, _, _ in blocks], format="csr") if blocks else sparse.csr_array((0, n)),
        row_lower=np.concatenate([np.zeros(0), *(low for _, low, _ in blocks)]),
        row_upper=np.concatenate([np.zeros(0), *(high for _, _, high in blocks)]),
        lower=np.concatenate([low for low, _, _ in boxes]),
        upper=np.concatenate([high for _, high, _ in boxes]),
        integer=np.concatenate([integer for _, _, integer in boxes]),
        objective=objective.toarray()[0],
        constant=constant[0],
        sense="max" if type(model.objective).__name__ == "Maximize" else "min",
        names=tuple(name for variable in variables for name in element_names(variable)),
    )


def sorted_variables(model: Any) -> list[Any]:
    """Variables in the order of their creation."""
    variables = sorted(model.variables(), key=lambda variable: int(variable.id))
    if not variables:
        raise InputError("the cvxpy problem has no variables")
    return variables


@contextmanager
def at_zero(variables: list[Any]) -> Iterator[None]:
    """Set all variables to zero, where an affine expression equals its constant, and restore their values later."""
    before = [variable.value for variable in variables]
    try:
        for variable in variables:
            # save_value does not check attributes: zero may be infeasible.
            variable.save_value(np.zeros(variable.shape))
        yield
    finally:
        for variable, value in zip(variables, before, strict=True):
            variable.save_value(value)


def affine(expression: Any, variables: list[Any]) -> tuple[Any, Floats]:
    """``expression = A x + b`` with the elements of both sides in row-major order."""
    gradient = expression.grad
    blocks = []
    for variable in variables:
        shape = (int(variable.size), int(expression.size))
        part = gradient.get(variable)
        block = sparse.csr_array(shape if part is None else np.reshape(part, shape) if np.ndim(part) == 0 else part)
        # cvxpy counts column by column.
        blocks.append(block[_order(variable.shape)][:, _order(expression.shape)].T)
    constant = np.asarray(expression.value, dtype=float)
    if constant.size != expression.size:  # with upper_tri, whose value is a column
        raise InputError(
            f"cvxpy evaluates {expression} to {constant.size} values in place of {expression.size}: write it in "
            "another way, for example by elements"
        )
    A, b = sparse.csr_array(sparse.hstack(blocks, format="csr")), constant.reshape(-1, order="C")
    _refuse_contradiction(expression, variables, A, b)
    return A, b


def _refuse_contradiction(expression: Any, variables: list[Any], A: Any, b: Floats) -> None:
    """Compare ``A x + b`` with the value at a point: cvxpy misplaces elements of some arrays of three dimensions."""
    x = np.cos(np.arange(A.shape[1], dtype=float))
    ends = np.cumsum([int(variable.size) for variable in variables])
    for variable, part in zip(variables, np.split(x, ends[:-1]), strict=True):
        variable.save_value(part.reshape(variable.shape))
    value = np.asarray(expression.value, dtype=float).reshape(-1, order="C")
    for variable in variables:
        variable.save_value(np.zeros(variable.shape))
    if not np.allclose(A @ x + b, value, rtol=1e-9, atol=1e-9 * float(np.max(abs(A) @ abs(x) + abs(b), initial=0.0))):
        raise InputError(f"cvxpy gives {expression} coefficients that contradict its value: write it in another way")


def _order(shape: tuple[int, ...]) -> Any:
    """Positions in column-major order, listed row by row."""
    return np.arange(int(np.prod(shape))).reshape(shape, order="F").reshape(-1)


def _rows(constraint: Any, variables: list[Any]) -> tuple[Any, Floats, Floats]:
    kind = type(constraint).__name__
    if kind not in LINEAR:
        raise InputError(f"the cvxpy problem has a constraint of kind {kind}, which is not linear; {CONVEX}")
    if not all(argument.is_affine() for argument in constraint.args):
        raise InputError(f"the constraint {constraint} of the cvxpy problem is not affine; {CONVEX}")
    expression = constraint.args[0] if len(constraint.args) == 1 else constraint.args[0] - constraint.args[1]
    A, constant = affine(expression, variables)
    free = np.full(len(constant), np.inf)
    low = -free if kind in ("Inequality", "NonPos") else -constant
    high = free if kind == "NonNeg" else -constant
    return A, low, high


def _box(variable: Any) -> tuple[Floats, Floats, Any]:
    attributes = variable.attributes
    for name in UNSUPPORTED:
        if np.any(attributes.get(name)):
            raise InputError(f"the cvxpy variable {variable.name()!r} is {name}, which is not linear; {CONVEX}")
    low, high = np.full(variable.shape, -np.inf), np.full(variable.shape, np.inf)
    if attributes.get("bounds") is not None:
        # A side may be a Parameter or another expression without variables.
        sides = (getattr(side, "value", side) for side in attributes["bounds"])
        low, high = (np.array(np.broadcast_to(np.asarray(side, float), variable.shape)) for side in sides)
    if attributes.get("nonneg") or attributes.get("pos"):
        low = np.maximum(low, 0.0)
    if attributes.get("nonpos") or attributes.get("neg"):
        high = np.minimum(high, 0.0)
    binary, integer = _mask(variable, "boolean"), _mask(variable, "integer")
    low, high = binary_bounds(low, high, binary)
    return low.reshape(-1), high.reshape(-1), (binary | integer).reshape(-1)


def _mask(variable: Any, kind: str) -> Any:
    mask = np.zeros(variable.shape, dtype=bool)
    given = variable.attributes.get(kind)
    if given is True:
        mask[...] = True
    elif given:
        mask[tuple(np.asarray(axis) for axis in getattr(variable, f"{kind}_idx"))] = True
    return mask


def element_names(variable: Any) -> list[str]:
    """Names of the elements of a variable or parameter, row by row."""
    if variable.shape == ():
        return [variable.name()]
    return [f"{variable.name()}[{','.join(map(str, position))}]" for position in np.ndindex(*variable.shape)]
