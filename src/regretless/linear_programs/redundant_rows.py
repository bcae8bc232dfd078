"""Remove rows that do not change a relaxation: fewer rows make every factorization faster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from regretless.errors import SolveError
from regretless.linear_programs.constraint_system import TINY, ConstraintSystem, Mask
from regretless.milp import Floats

# All pairs of rows are compared up to this many comparisons of entries.
PAIRS = 2_000_000_000


def without_redundant_rows(system: ConstraintSystem) -> ConstraintSystem:
    """Drop row bounds that the other constraints imply: parallel, never binding, dominated, dependent."""
    for step in (merge_parallel, relax_never_binding, drop_dominated, drop_dependent):
        if len(system.A) == 0:
            return system
        system = step(system)
    return system


def merge_parallel(system: ConstraintSystem) -> ConstraintSystem:
    """Merge rows that are multiples of each other into one row with the tightest bounds."""
    first = np.argmax(system.A != 0, axis=1)
    factor = system.A[np.arange(len(system.A)), first]
    A = system.A / factor[:, None]
    low, high = system.row_lower / factor, system.row_upper / factor
    low, high = np.where(factor > 0, low, high), np.where(factor > 0, high, low)
    _, leader, group = np.unique(A.round(12), axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    if len(leader) == len(A):
        return system
    lower, upper = np.full(len(leader), -np.inf), np.full(len(leader), np.inf)
    np.maximum.at(lower, group, low)
    np.minimum.at(upper, group, high)
    order = np.argsort(leader)
    leader = leader[order]
    # Back to the original scale of the row, so that dominated rows are still found.
    size = np.abs(factor[leader])
    merged = replace(system, A=A[leader] * size[:, None], row_lower=lower[order] * size, row_upper=upper[order] * size)
    return merged.checked()


def relax_never_binding(system: ConstraintSystem) -> ConstraintSystem:
    """Drop row bounds that no point inside the variable bounds and the packing rows can reach."""
    groups = _packing_rows(system)
    top, plain_top = _largest(system.A, system, groups), _largest(system.A, system, [])
    bottom, plain_bottom = -_largest(-system.A, system, groups), -_largest(-system.A, system, [])
    own = np.zeros(len(system.A), dtype=bool)
    own[[row for row, _ in groups]] = True
    # A packing row must not remove itself.
    top, bottom = np.where(own, plain_top, top), np.where(own, plain_bottom, bottom)
    slack = TINY * np.maximum(1.0, np.abs(system.A).max(axis=1))
    if ((top < system.row_lower - slack) | (bottom > system.row_upper + slack)).any():
        raise SolveError("the relaxation is infeasible: a row cannot reach its bounds. Check the constraints.")
    row_lower = np.where(bottom >= system.row_lower, -np.inf, system.row_lower)
    row_upper = np.where(top <= system.row_upper, np.inf, system.row_upper)
    # An equality stays an equality.
    equal = system.row_lower == system.row_upper
    row_lower, row_upper = np.where(equal, system.row_lower, row_lower), np.where(equal, system.row_upper, row_upper)
    useful = np.isfinite(row_lower) | np.isfinite(row_upper)
    return replace(system, row_lower=row_lower, row_upper=row_upper).rows(useful)


def drop_dominated(system: ConstraintSystem) -> ConstraintSystem:
    """Drop ``a . x <= 1`` if another row ``b . x <= 1`` has ``a <= b`` on nonnegative variables."""
    if len(system.A) ** 2 * system.A.shape[1] > PAIRS:
        return system
    only_upper, only_lower = np.isneginf(system.row_lower), np.isposinf(system.row_upper)
    sign = np.where(only_lower, -1.0, 1.0)
    bound = np.where(only_lower, -system.row_lower, system.row_upper)
    one_sided = only_upper | only_lower
    size = np.where(one_sided & (bound != 0), np.abs(bound), 1.0)
    A = system.A * (sign / size)[:, None]
    kind = np.where(one_sided, np.sign(bound), 2.0)
    signed = np.isneginf(system.lower)
    keep = np.ones(len(A), dtype=bool)
    for row in np.flatnonzero(one_sided):
        rivals = keep & (kind == kind[row])
        rivals[row] = False
        below = (A[row] <= A[rivals]).all(axis=1) & (A[row, signed] == A[rivals][:, signed]).all(axis=1)
        keep[row] = not below.any()
    return system.rows(keep)


def drop_dependent(system: ConstraintSystem) -> ConstraintSystem:
    """Drop equality rows that are linear combinations of others, after checking that they agree."""
    equal = system.row_lower == system.row_upper
    if not equal.any():
        return system
    A, b = system.A[equal], system.row_lower[equal]
    length = np.linalg.norm(A, axis=1)
    _, r, order = linalg.qr((A / length[:, None]).T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = int((diagonal > TINY * max(1.0, diagonal[0])).sum())
    if rank == len(A):
        return system
    chosen, rest = order[:rank], order[rank:]
    combination = np.linalg.lstsq(A[chosen].T, A[rest].T, rcond=None)[0]
    if (np.abs(combination.T @ b[chosen] - b[rest]) > 1e-7 * np.maximum(1.0, np.abs(b[rest]))).any():
        raise SolveError("the relaxation is infeasible: its equality rows contradict each other. Check the model.")
    keep = np.ones(len(system.A), dtype=bool)
    keep[np.flatnonzero(equal)[rest]] = False
    return system.rows(keep)


def _packing_rows(system: ConstraintSystem) -> list[tuple[int, Mask]]:
    """Disjoint rows ``x_1 + ... + x_k <= r`` over nonnegative variables, largest first."""
    members = system.A != 0
    top = system.A.max(axis=1)
    fits = (np.where(members, system.A, top[:, None]) == top[:, None]).all(axis=1) & (top > 0)
    fits &= np.isfinite(system.row_upper) & ~(members & np.isneginf(system.lower)).any(axis=1)
    taken = np.zeros(system.A.shape[1], dtype=bool)
    chosen = []
    for row in sorted(np.flatnonzero(fits), key=lambda i: -int(members[i].sum())):
        if not (members[row] & taken).any():
            taken |= members[row]
            chosen.append((int(row), members[row]))
    return chosen


def _largest(A: Floats, system: ConstraintSystem, groups: list[tuple[int, Mask]]) -> Floats:
    """Bound ``A x`` from above, row by row."""
    with np.errstate(invalid="ignore"):
        each = np.where(A > 0, A * system.upper, np.where(A < 0, A * system.lower, 0.0))
    each = np.where(A == 0, 0.0, each)
    loose = np.ones(A.shape[1], dtype=bool)
    total = np.zeros(len(A))
    for row, members in groups:
        r = system.row_upper[row] / system.A[row, members].max()
        together = r * np.maximum(A[:, members].max(axis=1), 0.0)
        total += np.minimum(together, each[:, members].sum(axis=1))
        loose &= ~members
    return np.asarray(total + each[:, loose].sum(axis=1))
