"""A mixed-integer linear program as arrays, with the map from decisions to the space of the predicted costs."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from regretless.errors import InputError
from regretless.integer_data import integer_scales
from regretless.tensors import NOT_NUMBERS

Floats = NDArray[np.float64]
TOLERANCE = 1e-6
# Solvers write infinity as a large number; larger bounds can never be active in float64 arithmetic.
INFINITE = 1e20
# Tolerances are absolute: for an engine a row whose coefficients are all 1e-9 holds nothing back.
TINY_ROW = 1e-3
# Sums of integers have no error but that of rounding, far below the tolerance of engines: this part of it.
ROUNDING = 1e-6
ROW_SIDES = ("row_lower", "row_upper")


@dataclass(frozen=True, eq=False, repr=False)
class MILP:
    """``min c . (G x) + h . x + constant`` subject to ``row_lower <= A x <= row_upper``, ``lower <= x <= upper``.

    ``c`` is what a model predicts; ``G`` (``cost_map``, identity by default) maps a decision to the space of ``c``;
    ``h`` (``fixed_cost``) holds the costs that are known in advance. Losses, caches and regrets use the *cost space*:
    ``G x``, and, where there are known costs, one more coordinate ``h . x + constant`` whose cost is always 1.
    So known costs need no special case.

    A row whose coefficients are all below 0.001 is multiplied by a power of two, with its bounds. The feasible set
    stays the same, and the absolute tolerances of engines and checks apply to the row as to any other. ``row_scale``
    holds these factors; ``written`` returns what was given. ``integer_scale`` holds the factors that make the
    coefficients of integer variables integers, and 0 for rows without one (``regretless.integer_data``).

    Args:
        A: ``(rows, n)`` dense or sparse.
        row_lower, row_upper: ``(rows,)`` or a scalar; ``-inf`` and ``inf`` where there is no bound.
        lower, upper: ``(n,)`` or a scalar bounds of the variables (0 and 1 by default).
        integer: ``(n,)`` or a scalar mask of integer variables (all by default).
        cost_map: ``(d, n)`` map G; identity when ``None``.
        fixed_cost: ``(n,)`` known costs h; none when ``None``.
        constant: known constant of the objective.
        names: names of the variables.
        row_names: names of the rows.

    >>> knapsack = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)
    >>> knapsack.check([[1, 1, 0], [0, 1, 1]]).tolist()
    [True, False]
    """

    A: Any
    row_lower: Any = -np.inf
    row_upper: Any = np.inf
    lower: Any = 0.0
    upper: Any = 1.0
    integer: Any = True
    cost_map: Any = None
    fixed_cost: Any = None
    constant: float = 0.0
    names: tuple[str, ...] | None = None
    row_names: tuple[str, ...] | None = None
    row_scale: Floats = field(init=False)
    integer_scale: Floats = field(init=False)

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("A", _matrix("A", self.A))
        rows, n = self.A.shape
        put("row_lower", _vector("row_lower", self.row_lower, rows))
        put("row_upper", _vector("row_upper", self.row_upper, rows))
        put("lower", _vector("lower", self.lower, n))
        put("upper", _vector("upper", self.upper, n))
        put("integer", _vector("integer", self.integer, n).astype(bool))
        if self.cost_map is not None:
            put("cost_map", _matrix("cost_map", self.cost_map))
        put("fixed_cost", _vector("fixed_cost", 0.0 if self.fixed_cost is None else self.fixed_cost, n))
        put("constant", float(_vector("constant", self.constant, 1)[0]))
        for names in ("names", "row_names"):
            if getattr(self, names) is not None:
                put(names, tuple(getattr(self, names)))
        put("row_scale", np.ones(rows))
        self.validate()
        largest = abs(self.A).max(axis=1).toarray().ravel() if self.A.nnz else np.zeros(rows)
        tiny = (largest > 0) & (largest < TINY_ROW)
        if tiny.any():
            scale = np.where(tiny, np.ldexp(1.0, 10 - np.frexp(largest)[1]), 1.0)
            self.A.data *= np.repeat(scale, np.diff(self.A.indptr))  # a copy of the caller's
            put("row_lower", self.row_lower * scale)
            put("row_upper", self.row_upper * scale)
            put("row_scale", scale)
        put("integer_scale", integer_scales(self.A, self.integer))

    def __repr__(self) -> str:
        known = ", with known costs" if self.has_fixed_cost else ""
        rows = f"{self.A.shape[0]} rows, {self.n} variables, {int(self.integer.sum())} of them integer"
        return f"MILP({rows}, {self.dimension} costs{known})"

    def validate(self) -> None:
        """Check shapes, bounds and finiteness; raise ``InputError`` naming the first thing that is wrong."""
        n = self.n
        if n == 0:
            raise InputError("a MILP needs at least one variable, got A of shape " + str(self.A.shape))
        if not np.isfinite(self.A.data).all():
            raise InputError("A must be finite, got NaN or infinite entries")
        if self.cost_map is not None:
            if self.cost_map.shape[1] != n:
                raise InputError(f"cost_map must have shape (d, {n}), got {self.cost_map.shape}")
            if not np.isfinite(self.cost_map.data).all():
                raise InputError("cost_map must be finite, got NaN or infinite entries")
        if not np.isfinite(self.fixed_cost).all() or not np.isfinite(self.constant):
            raise InputError("fixed_cost and constant must be finite, got NaN or infinite entries")
        for what, names, count in (("names", self.names, n), ("row_names", self.row_names, self.A.shape[0])):
            if names is not None and len(names) != count:
                raise InputError(f"{what} must hold {count} names, got {len(names)}")
        self._check_bounds()

    def _check_bounds(self) -> None:
        sides = (
            (self.row_lower, self.row_upper, "row", self.row_names),
            (self.lower, self.upper, "variable", self.names),
        )
        for low, high, what, names in sides:
            if np.isnan(low).any() or np.isnan(high).any():
                raise InputError(f"{what} bounds must not be NaN; use -inf and inf where there is no bound")
            # An infinite bound on the wrong side leaves nothing in between, just like crossed ones.
            bad = np.flatnonzero((low > high) | (low == np.inf) | (high == -np.inf))
            if bad.size:
                i = int(bad[0])
                name = i if names is None else repr(names[i])
                raise InputError(f"{what} {name} leaves nothing between its bounds {low[i]} and {high[i]}")

    @property
    def n(self) -> int:
        """Number of variables."""
        return int(self.A.shape[1])

    @property
    def dimension(self) -> int:
        """Number d of predicted costs."""
        return self.n if self.cost_map is None else int(self.cost_map.shape[0])

    @property
    def cost_names(self) -> tuple[str, ...] | None:
        """Names of the predicted costs: of the variables that they belong to, or ``None`` where that is not clear."""
        if self.names is None or self.cost_map is None:
            return self.names
        chosen = self.cost_map.indices
        one_each = (np.diff(self.cost_map.indptr) == 1).all() and (self.cost_map.data == 1.0).all()
        return tuple(self.names[j] for j in chosen) if one_each and len(set(chosen)) == len(chosen) else None

    @property
    def has_fixed_cost(self) -> bool:
        """Whether part of the objective is known in advance."""
        return bool(self.fixed_cost.any()) or self.constant != 0.0

    @property
    def width(self) -> int:
        """Columns of a solution in cost space: d, and one more where there are known costs."""
        return self.dimension + int(self.has_fixed_cost)

    def solution(self, x: ArrayLike) -> Floats:
        """Map decisions ``(batch, n)`` to cost space ``(batch, width)``."""
        x = decisions(x, self.n)
        v = x if self.cost_map is None else (self.cost_map @ x.T).T
        if self.has_fixed_cost:
            v = np.concatenate([v, (x @ self.fixed_cost + self.constant)[:, None]], axis=1)
        return np.ascontiguousarray(v)

    def objective(self, costs: Floats) -> Floats:
        """Map costs ``(batch, width)`` to objective vectors ``(batch, n)`` over the variables."""
        c = costs[:, : self.dimension]
        objective = c if self.cost_map is None else np.asarray((self.cost_map.T @ c.T).T)
        if self.has_fixed_cost:
            objective = objective + costs[:, self.dimension :] * self.fixed_cost
        return np.ascontiguousarray(objective)

    def integer_bounds(self) -> tuple[Floats, Floats]:
        """Variable bounds, those of integer variables rounded inward up to the tolerance of the solvers.

        The bounds of a variable that no integer satisfies are returned unchanged: the model is then infeasible.
        """
        lower = np.where(self.integer, np.ceil(self.lower - TOLERANCE), self.lower)
        upper = np.where(self.integer, np.floor(self.upper + TOLERANCE), self.upper)
        empty = lower > upper
        return np.where(empty, self.lower, lower) + 0.0, np.where(empty, self.upper, upper) + 0.0

    def relax(self) -> MILP:
        """Return the linear relaxation."""
        return self.replaced(integer=np.zeros(self.n, dtype=bool))

    def written(self, part: str) -> Any:
        """The rows (``"A"``) or a vector as they were given, without the factors of tiny rows."""
        value = getattr(self, part)
        if part == "A":
            value = value.copy()
            value.data /= np.repeat(self.row_scale, np.diff(value.indptr))  # exact: powers of two
        return value / self.row_scale if part in ROW_SIDES else value

    def replaced(self, **vectors: Any) -> MILP:
        """Return the model with other vectors, of the right length and type; rows and cost map are shared.

        Sides of rows are those of the rows as they were given; see ``written``.
        """
        other = copy.copy(self)
        for name, value in vectors.items():
            object.__setattr__(other, name, value * self.row_scale if name in ROW_SIDES else value)
        if "integer" in vectors:
            object.__setattr__(other, "integer_scale", integer_scales(other.A, other.integer))
        other.validate()
        return other

    def check(self, x: ArrayLike, tolerance: float = TOLERANCE) -> NDArray[np.bool_]:
        """Say for each decision ``(batch, n)`` whether it is feasible, up to a tolerance relative to the bounds.

        Integer variables are rounded, and the tolerance of their bounds and of rows of integer data is absolute.
        """
        x = decisions(x, self.n)
        kept, x = integral(self, x, tolerance), rounded(self, x)
        rows = _within((self.A @ x.T).T, self.row_lower, self.row_upper, tolerance, self.integer_scale > 0)
        return kept & rows & _within(x, self.lower, self.upper, tolerance, self.integer)

    @property
    def fingerprint(self) -> str:
        """Hash of the feasible set and the map to cost space: two problems with one fingerprint may share a cache."""
        digest = hashlib.sha256(b"regretless.MILP.1")
        maps = [self.A] if self.cost_map is None else [self.A, self.cost_map]
        for matrix in maps:
            digest.update(repr(matrix.shape).encode())
            for part in (matrix.indptr, matrix.indices):
                digest.update(part.astype(np.int64).tobytes())
            digest.update(matrix.data.tobytes())
        for vector in (self.row_lower, self.row_upper, self.lower, self.upper, self.fixed_cost, self.integer):
            digest.update(vector.tobytes())
        digest.update(repr(float(self.constant)).encode())
        return digest.hexdigest()[:32]


def with_infinities(bounds: ArrayLike) -> Floats:
    """Return bounds as an array in which huge values are infinite."""
    values = np.asarray(bounds, dtype=np.float64)
    return np.where(np.abs(values) >= INFINITE, np.copysign(np.inf, values), values)


def decisions(x: ArrayLike, n: int) -> Floats:
    """Return one or more decisions as an array ``(batch, n)``."""
    array = np.atleast_2d(np.asarray(x, dtype=np.float64))
    if array.ndim != 2 or array.shape[1] != n:
        raise InputError(f"x must have shape (batch, {n}), got {array.shape}")
    return array


def integral(milp: MILP, x: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Say for decisions ``(batch, n)`` whether they are finite and keep integrality."""
    with np.errstate(invalid="ignore"):
        kept = np.abs(x - np.round(x))[:, milp.integer].max(axis=1, initial=0.0) <= tolerance
    return np.asarray(kept & np.isfinite(x).all(axis=1))


def rounded(milp: MILP, x: Floats) -> Floats:
    """Decisions ``(batch, n)`` with the values of integer variables rounded."""
    return np.where(milp.integer, np.round(x), x)


def with_tolerance(low: Floats, high: Floats, tolerance: float, exact: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Bounds, wider by a tolerance that grows with their size; hardly so where the values are ``exact``."""
    return low - tolerance * _room(low, exact), high + tolerance * _room(high, exact)


def _room(bound: Floats, exact: NDArray[np.bool_]) -> Floats:
    size = np.where(np.isfinite(bound), np.abs(bound), 1.0)
    return np.maximum(1.0, np.where(exact, ROUNDING * size, size))


def _within(x: Floats, low: Floats, high: Floats, tolerance: float, exact: NDArray[np.bool_]) -> NDArray[np.bool_]:
    below, above = with_tolerance(low, high, tolerance, exact)
    return np.asarray(((x >= below) & (x <= above)).all(axis=1))


def _matrix(name: str, value: Any) -> sparse.csr_array:
    try:
        given: Any = value if sparse.issparse(value) else np.atleast_2d(np.asarray(value, dtype=np.float64))
        if given.ndim != 2:
            raise ValueError(f"{given.ndim} dimensions")
        # A copy: what follows works in place, and the caller's matrix must stay as it is.
        matrix = sparse.csr_array(given, dtype=np.float64, copy=True)
    except NOT_NUMBERS as error:
        raise InputError(
            f"{name} must be a matrix of numbers, dense or sparse, got {type(value).__name__}: {error}"
        ) from error
    # One canonical form, so that equal models have equal fingerprints.
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _vector(name: str, value: Any, length: int) -> Floats:
    try:
        vector = np.asarray(value, dtype=np.float64)
    except NOT_NUMBERS as error:
        raise InputError(f"{name} must be numbers, got {type(value).__name__}: {error}") from error
    if vector.ndim == 0:
        return np.full(length, float(vector) + 0.0)
    if vector.shape != (length,):
        raise InputError(f"{name} must be a scalar or have shape ({length},), got {vector.shape}")
    return vector + 0.0  # a copy, without negative zeros
