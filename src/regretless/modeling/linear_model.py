"""A linear model as arrays: what every reader returns, and its canonical form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import Floats, with_infinities
from regretless.types import Sense

# Constraints that a linear model cannot hold, but a convex one can.
QUADRATIC = "quadratic constraints (convex ones are accepted from cvxpy, see docs/models.md)"


@dataclass(frozen=True)
class Row:
    """``lower <= sum coefficients x <= upper``, by column."""

    coefficients: Mapping[int, float]
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class LinearModel:
    """``min`` or ``max`` of ``objective . x + constant`` over rows, bounds and integrality, with variable names.

    Readers may use any sequence of numbers; ``canonical`` converts them to arrays.
    """

    A: Any
    row_lower: Any
    row_upper: Any
    lower: Any
    upper: Any
    integer: Any
    objective: Any
    constant: float
    sense: Sense
    names: tuple[str, ...]
    row_names: tuple[str, ...] | None = None


def stacked(rows: Sequence[Row], n: int) -> tuple[Any, Floats, Floats]:
    """Convert rows to a sparse matrix ``(rows, n)`` and its bounds."""
    indptr = np.cumsum([0, *(len(row.coefficients) for row in rows)])
    indices = np.array([j for row in rows for j in row.coefficients], dtype=np.int64)
    data = np.array([a for row in rows for a in row.coefficients.values()], dtype=np.float64)
    matrix = sparse.csr_array((data, indices, indptr), shape=(len(rows), n))
    return matrix, np.array([row.lower for row in rows], float), np.array([row.upper for row in rows], float)


def canonical(model: LinearModel, *, keep_rows: bool = False) -> LinearModel:
    """Return the canonical form, in which equal models are equal arrays.

    A row on one variable becomes a bound; a row without effect is left out; the first coefficient of a row is positive;
    huge bounds are infinite. The order of variables and rows does not change.

    Args:
        model: what a reader returned.
        keep_rows: keep rows that have an effect as they are written, with their names, so that their sides can be
            varied by name.
    """
    if not model.names:
        raise InputError("the model has no variables")
    A = sparse.csr_array(model.A, dtype=np.float64)
    A.sum_duplicates()
    A.eliminate_zeros()
    A.sort_indices()
    if not np.isfinite(A.data).all():
        raise InputError("the rows of the model contain NaN or infinite coefficients")
    row_lower, row_upper = with_infinities(model.row_lower), with_infinities(model.row_upper)
    lower, upper = with_infinities(model.lower), with_infinities(model.upper)
    _refuse_nan("row", model.row_names, row_lower, row_upper)  # such a row would count as one without sides
    _refuse_nan("variable", model.names, lower, upper)
    entries = np.diff(A.indptr)
    first = np.array([A.data[A.indptr[i]] if entries[i] else 1.0 for i in range(A.shape[0])])
    flip = (first < 0) & (not keep_rows)
    A = sparse.csr_array(sparse.diags_array(np.where(flip, -1.0, 1.0)) @ A) if flip.any() else A
    row_lower, row_upper = np.where(flip, -row_upper, row_lower), np.where(flip, -row_lower, row_upper)
    keep = np.isfinite(row_lower) | np.isfinite(row_upper)
    keep &= ~((entries == 0) & (row_lower <= 0) & (row_upper >= 0))
    for i in np.flatnonzero(keep & (entries == 1) & (not keep_rows)):
        j, a = A.indices[A.indptr[i]], A.data[A.indptr[i]]
        low, high = max(lower[j], row_lower[i] / a), min(upper[j], row_upper[i] / a)
        # Crossed bounds stay a row: the model is then infeasible, which the solver reports.
        if low <= high:
            lower[j], upper[j], keep[i] = low, high, False
    return replace(
        model,
        A=A[np.flatnonzero(keep)],
        row_lower=row_lower[keep] + 0.0,
        row_upper=row_upper[keep] + 0.0,
        lower=lower + 0.0,
        upper=upper + 0.0,
        integer=np.asarray(model.integer, dtype=bool),
        objective=np.array(model.objective, dtype=np.float64),
        constant=float(model.constant),
        names=_named(model.names),
        row_names=_row_names(model, keep) if keep_rows else None,
    )


def binary_bounds(lower: Any, upper: Any, binary: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Bounds in which binary variables are between 0 and 1; some languages keep wider ones, and do not use them."""
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    return np.where(binary, np.maximum(low, 0.0), low), np.where(binary, np.minimum(high, 1.0), high)


def _refuse_nan(what: str, names: tuple[str, ...] | None, low: Floats, high: Floats) -> None:
    bad = np.flatnonzero(np.isnan(low) | np.isnan(high))
    if bad.size:
        i = int(bad[0])
        name = (names[i] if names else "") or i
        raise InputError(f"a bound of the {what} {name!r} is NaN; use infinity where there is no bound")


def _row_names(model: LinearModel, keep: NDArray[np.bool_]) -> tuple[str, ...]:
    """Names of the rows that stay; one that the model does not name, or names twice, has its number."""
    given = model.row_names or ("",) * len(keep)
    once = {name for name, count in Counter(given).items() if name and count == 1}
    return tuple(given[i] if given[i] in once else f"#{i}" for i in np.flatnonzero(keep))


def _named(names: tuple[str, ...]) -> tuple[str, ...]:
    """Name unnamed variables; refuse duplicate names, because decisions are returned by name."""
    taken = set(names)
    result = []
    for j, name in enumerate(names):
        while not name or (name != names[j] and name in taken):
            name = f"x{j}" if not name else f"{name}_"
        result.append(name)
    if len(set(result)) < len(result):
        twice = next(name for name in result if result.count(name) > 1)
        raise InputError(f"two variables of the model are called {twice!r}; give every variable its own name")
    return tuple(result)
