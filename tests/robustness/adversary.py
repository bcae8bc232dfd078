"""Random models of many shapes, and their optima by brute force in exact arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from regretless.milp import MILP

inf = np.inf
LARGEST_BOX = 3000  # points that brute force tries
SHAPES = (
    "binary", "small", "mixed", "large", "free", "decimals", "scaled rows", "unbounded", "lattice", "linear",
    "mixed free", "tiny rows", "fixed",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model, minimizing costs over its variables, and the seed that made it."""

    seed: int
    shape: str
    milp: MILP
    costs: np.ndarray

    def __str__(self) -> str:
        milp = self.milp
        return (
            f"seed {self.seed} ({self.shape}): A={milp.A.toarray().tolist()}, rows in {milp.row_lower.tolist()} .. "
            f"{milp.row_upper.tolist()}, x in {milp.lower.tolist()} .. {milp.upper.tolist()}, "
            f"integer={milp.integer.tolist()}, costs={self.costs.tolist()}"
        )


def case(seed: int) -> Case:
    """The model of a seed."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    n, rows, size = int(rng.integers(1, 6)), int(rng.integers(0, 4)), int(rng.choice([3, 10, 50, 1000]))
    if shape == "lattice":  # few points in a large box: engines are wrong here most often
        n, rows, size = 4, 2, 50
    A = rng.integers(-size, size + 1, (rows, n)).astype(float) * (rng.random((rows, n)) < 0.8)
    reach = int(rng.choice([10, 100, 1000, 10_000, 100_000]))
    most = {"binary": 1, "large": reach, "lattice": reach}.get(shape, int(rng.integers(1, 7)))
    lower = np.zeros(n) if shape == "binary" else rng.integers(-most, 1, n).astype(float) * (rng.random(n) < 0.3)
    upper = lower + rng.integers(0 if rng.random() < 0.3 else 1, most + 1, n)
    inside = rng.integers(lower, upper + 1).astype(float)
    activity = A @ inside
    width = rng.integers(0, max(2, size), rows)
    kind = rng.choice(["<=", ">=", "=", "range", "anything"], rows, p=[0.3, 0.2, 0.2, 0.2, 0.1])
    low = np.where((kind == "<=") | (kind == "anything"), -inf, activity - np.where(kind == "=", 0, width))
    high = np.where((kind == ">=") | (kind == "anything"), inf, activity + np.where(kind == "=", 0, width))
    integer = np.ones(n, dtype=bool)
    if rng.random() < 0.1:  # most of these are infeasible
        low, high = low + size * 2, high + size * 2
    if shape == "mixed":
        integer[-1] = False
        upper[-1] += rng.choice([0.0, 0.5])
    if shape == "linear":
        integer[:] = False
    if shape == "fixed":
        fixed = rng.random(n) < 0.5
        lower, upper = np.where(fixed, inside, lower), np.where(fixed, inside, upper)
    if shape in ("free", "mixed free"):
        j = 0 if shape == "free" else n - 1
        integer[j] = shape == "free"
        lower[j], upper[j] = -inf, inf
        A, low, high = np.vstack([A, np.eye(n)[j]]), np.append(low, inside[j] - 3), np.append(high, inside[j] + 3)
    if shape == "unbounded":
        upper[rng.random(n) < 0.7] = inf
    if shape == "decimals":
        unit = float(rng.choice([10.0, 4.0, 100.0]))
        A, low, high = A / unit, low / unit, high / unit
    if shape == "scaled rows" and rows:
        scale = 10.0 ** rng.integers(0, 7, rows)
        A, low, high = A * scale[:, None], low * scale, high * scale
    if shape == "tiny rows" and rows:
        # powers of two, so that brute force is exact; an empty row with a tiny bound is a matter of tolerance
        scale = np.where(A.any(axis=1), 0.5 ** rng.integers(5, 40, rows), 1.0)
        A, low, high = A * scale[:, None], low * scale, high * scale
    if rows and rng.random() < 0.1:
        A[0], low[0], high[0] = 0.0, min(low[0], 0.0), max(high[0], 0.0)
    return Case(seed, shape, MILP(A, low, high, lower, upper, integer), _costs(rng, n))


def _costs(rng: np.random.Generator, n: int) -> np.ndarray:
    costs = rng.integers(-9, 10, n).astype(float)
    match rng.integers(0, 7):
        case 0:
            return costs * float(10.0 ** rng.integers(-12, 13))
        case 1:
            return rng.normal(size=n) * float(10.0 ** rng.integers(-6, 7))
        case 2:
            return costs * 10.0 ** rng.integers(0, 4, n)
        case 3:
            return rng.integers(-1000, 1001, n).astype(float)
        case 4:
            return np.zeros(n)
        case _:
            return costs


def enlarged(milp: MILP) -> MILP:
    """The same model with rows of tiny coefficients scaled up, so that a tolerance means something for them."""
    largest = np.abs(milp.A.toarray()).max(axis=1, initial=0.0)
    scale = np.where((largest > 0) & (largest < 1), 2.0 ** -np.floor(np.log2(np.where(largest > 0, largest, 1.0))), 1.0)
    return replace(
        milp,
        A=milp.A.toarray() * scale[:, None],
        row_lower=milp.row_lower * scale,
        row_upper=milp.row_upper * scale,
    )


def exactly_feasible(milp: MILP, x: np.ndarray) -> bool:
    """Whether a decision is feasible: without a tolerance for rows of integers, with 1e-6 for all others."""
    milp = enlarged(milp)
    if not bool(milp.check(x, 1e-6)[0]):
        return False
    integers = np.array([bool((row == np.round(row)).all()) for row in milp.A.toarray()], dtype=bool)
    if not milp.integer.all() or not integers.any():
        return True
    exact = replace(milp, A=milp.A[integers], row_lower=milp.row_lower[integers], row_upper=milp.row_upper[integers])
    return bool((x == np.round(x)).all()) and bool(exact.check(x, 0.0)[0])


def value(costs: np.ndarray, x: np.ndarray) -> Fraction:
    """The objective, without rounding."""
    return sum((Fraction(float(c)) * Fraction(float(v)) for c, v in zip(costs, x, strict=True)), Fraction(0))


def brute_force(given: Case) -> tuple[bool, Fraction | None] | None:
    """Whether there is a feasible point, and the least objective; ``None`` where the box is too large.

    The last variable may be continuous: then it takes the better end of the interval that the rows leave it. A linear
    program in a box has an optimum at one of its vertices.
    """
    milp, costs = enlarged(given.milp), given.costs
    if given.shape == "linear":
        points = _vertices(milp)
        return bool(len(points)), min((value(costs, x) for x in points), default=None)
    if given.shape == "free":  # the last row bounds the first variable
        milp = replace(milp, lower=_put(milp.lower, milp.row_lower[-1]), upper=_put(milp.upper, milp.row_upper[-1]))
    count = milp.n - int(not milp.integer[-1])
    if not np.isfinite(milp.lower[:count]).all() or not np.isfinite(milp.upper[:count]).all():
        return None
    if np.prod(milp.upper[:count] - milp.lower[:count] + 1.0) > LARGEST_BOX:
        return None
    axes = [range(int(lo), int(hi) + 1) for lo, hi in zip(milp.lower[:count], milp.upper[:count], strict=True)]
    points = np.array(list(product(*axes)), dtype=float)
    if count == milp.n:
        points = points[milp.check(points, 1e-9)]
        return bool(len(points)), min((value(costs, x) for x in points), default=None)
    best: Fraction | None = None
    A = milp.A.toarray()
    for x in points:
        left, right = milp.lower[-1], milp.upper[-1]
        for a, lo, hi in zip(A, milp.row_lower - A[:, :-1] @ x, milp.row_upper - A[:, :-1] @ x, strict=True):
            if a[-1] == 0:
                left = left if lo <= 1e-9 and hi >= -1e-9 else inf
            else:
                ends = sorted((lo / a[-1], hi / a[-1]))
                left, right = max(left, ends[0]), min(right, ends[1])
        if left <= right + 1e-9:
            found = min(value(costs, np.append(x, end)) for end in (left, max(left, right)))
            best = found if best is None else min(best, found)
    return best is not None, best


def _vertices(milp: MILP) -> np.ndarray:
    """All vertices of a bounded polytope: feasible points where as many sides meet as there are variables."""
    n = milp.n
    A = np.vstack([milp.A.toarray(), milp.A.toarray(), np.eye(n), np.eye(n)])
    sides = np.concatenate([milp.row_lower, milp.row_upper, milp.lower, milp.upper])
    A, sides = A[np.isfinite(sides)], sides[np.isfinite(sides)]
    chosen = np.array(list(combinations(range(len(sides)), n)))
    square = A[chosen]
    regular = np.abs(np.linalg.det(square)) > 1e-9
    points = np.linalg.solve(square[regular], sides[chosen[regular]][..., None])[..., 0]
    return points[milp.check(points, 1e-9)]


def _put(values: np.ndarray, first: float) -> np.ndarray:
    return np.append(first, values[1:])
