"""What every reader returns: a linear model as arrays, brought to one form whatever library it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.types import Sense

# What readers say of constraints that a linear model cannot hold, but a convex one can.
QUADRATIC = "quadratic constraints (convex ones are accepted from cvxpy, see docs/models.md)"
# What solvers call infinite.
INFINITE = 1e20


@dataclass(frozen=True)
class Row:
    """``lower <= sum coefficients x <= upper``, by column."""

    coefficients: Mapping[int, float]
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Linear:
    """``min`` or ``max`` of ``objective . x + constant`` over rows, bounds and integrality, with names."""

    A: Any
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    integer: Any
    objective: Floats
    constant: float
    sense: Sense
    names: tuple[str, ...]


def stacked(rows: Sequence[Row], n: int) -> tuple[Any, Floats, Floats]:
    """Rows to a sparse matrix ``(rows, n)`` and its bounds."""
    indptr = np.cumsum([0, *(len(row.coefficients) for row in rows)])
    indices = np.array([j for row in rows for j in row.coefficients], dtype=np.int64)
    data = np.array([a for row in rows for a in row.coefficients.values()], dtype=np.float64)
    matrix = sparse.csr_array((data, indices, indptr), shape=(len(rows), n))
    return matrix, np.array([row.lower for row in rows], float), np.array([row.upper for row in rows], float)


def canonical(linear: Linear) -> Linear:
    """Bring a model to the one form that makes equal models equal arrays.

    A row on one variable is a bound; a row that says nothing is left out; the first coefficient of a row is positive;
    huge bounds are infinite. The order of variables and rows stays.
    """
    A = sparse.csr_array(linear.A, dtype=np.float64)
    A.sum_duplicates()
    A.eliminate_zeros()
    A.sort_indices()
    if not np.isfinite(A.data).all():
        raise InputError("the model's rows hold NaN or infinite coefficients")
    row_lower, row_upper = _infinite(linear.row_lower), _infinite(linear.row_upper)
    lower, upper = _infinite(linear.lower), _infinite(linear.upper)
    entries = np.diff(A.indptr)
    first = np.array([A.data[A.indptr[i]] if entries[i] else 1.0 for i in range(A.shape[0])])
    flip = first < 0
    A = sparse.csr_array(sparse.diags_array(np.where(flip, -1.0, 1.0)) @ A) if flip.any() else A
    row_lower, row_upper = np.where(flip, -row_upper, row_lower), np.where(flip, -row_lower, row_upper)
    keep = np.isfinite(row_lower) | np.isfinite(row_upper)
    keep &= ~((entries == 0) & (row_lower <= 0) & (row_upper >= 0))
    for i in np.flatnonzero(keep & (entries == 1)):
        j, a = A.indices[A.indptr[i]], A.data[A.indptr[i]]
        low, high = max(lower[j], row_lower[i] / a), min(upper[j], row_upper[i] / a)
        # crossed bounds stay a row: the model is then infeasible, which is for the solver to say
        if low <= high:
            lower[j], upper[j], keep[i] = low, high, False
    return replace(
        linear,
        A=A[np.flatnonzero(keep)],
        row_lower=row_lower[keep] + 0.0,
        row_upper=row_upper[keep] + 0.0,
        lower=lower + 0.0,
        upper=upper + 0.0,
        integer=np.asarray(linear.integer, dtype=bool),
        names=_named(linear.names),
    )


def _infinite(bounds: Any) -> Floats:
    values = np.array(bounds, dtype=np.float64)
    values[values >= INFINITE] = np.inf
    values[values <= -INFINITE] = -np.inf
    return values


def _named(names: tuple[str, ...]) -> tuple[str, ...]:
    """Give unnamed variables a name; refuse two variables of one name, since decisions come back by name."""
    taken = set(names)
    result = []
    for j, name in enumerate(names):
        while not name or (name != names[j] and name in taken):
            name = f"x{j}" if not name else f"{name}_"
        result.append(name)
    if len(set(result)) < len(result):
        twice = next(name for name in result if result.count(name) > 1)
        raise InputError(f"two variables of the model are called {twice!r}; give every variable a name of its own")
    return tuple(result)
