"""The matching without its side rows, and its Lagrangian with one of them.

Without side rows the problem is an assignment. With ``s`` pairs that share their field and ``d`` pairs that do not, row
1 reads ``(1 - p) s - p d >= 0`` and row 2 ``(1 - q) d - q s >= 0``. If the best assignment violates one of them, that
row is tight in the relaxation and the other row is slack (p + q <= 1), so one multiplier gives the full bound
``L(mu) = max over matchings of gain + mu * row``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from regretless.milp import Floats
from regretless.problems.matching.formulation import Partners, Side

STEPS = 200
NOISE = 1e-12  # relative to gains scaled to at most 1
LEAN = 1e-7  # small enough to decide ties only


def assign(gain: Floats) -> Partners:
    """Best matching without side rows; pairs without a gain are left out."""
    rows, columns = linear_sum_assignment(np.maximum(gain, 0.0), maximize=True)
    partners = np.full(len(gain), -1, dtype=np.int64)
    keep = gain[rows, columns] > NOISE
    partners[rows[keep]] = columns[keep]
    return partners


def value(gain: Floats, partners: Partners) -> float:
    """Sum of the gains of a matching."""
    left = np.flatnonzero(partners >= 0)
    return float(gain[left, partners[left]].sum())


@dataclass(frozen=True)
class Bound:
    """The best multiplier, the gains shifted by it, and two matchings that are best for these gains.

    One of the matchings violates the row, the other satisfies it.
    """

    multiplier: float
    row: int
    shifted: Floats
    violating: Partners
    satisfying: Partners


def best_multiplier(gain: Floats, side: Side, start: Partners) -> Bound:
    """Minimize the convex, piecewise linear L by secants, from a best assignment that violates a row.

    Every matching is a line of L. The lines of a matching that violates the row and of one that satisfies it cross at a
    new multiplier. Either no line lies above the crossing, which is then the minimum, or a higher line replaces one of
    the two.
    """
    rows = side.rows(*side.counts(start))
    row = int(rows[1] < rows[0])
    coefficients = side.coefficients(row)
    low, low_value, low_row = start, value(gain, start), rows[row]
    high, high_value, high_row = np.full_like(start, -1), 0.0, 0.0
    multiplier, shifted = 0.0, gain
    for _ in range(STEPS):
        multiplier = max((low_value - high_value) / (high_row - low_row), 0.0)
        shifted = gain + multiplier * coefficients
        partners = assign(shifted)
        new_value, new_row = value(gain, partners), side.rows(*side.counts(partners))[row]
        crossing = low_value + multiplier * low_row
        if new_value + multiplier * new_row <= crossing + NOISE * max(1.0, abs(crossing)):
            break
        if new_row < 0:
            low, low_value, low_row = partners, new_value, new_row
        else:
            high, high_value, high_row = partners, new_value, new_row
    return Bound(multiplier, row, shifted, low, high)


def narrow(bound: Bound, side: Side) -> Bound:
    """Bring the two matchings of a bound closer together, if ties leave many best matchings.

    A small bias favors the row at some left nodes and opposes it at the others. Bisection over the number of nodes in
    favor ends between a matching that violates the row and one that satisfies it.
    """
    lean = LEAN * max(1.0, float(bound.shifted.max())) * side.coefficients(bound.row)
    low, high = 0, len(lean)
    violating, satisfying = bound.violating, bound.satisfying
    while high - low > 1:
        middle = (low + high) // 2
        partners = assign(bound.shifted + np.concatenate([lean[:middle], -lean[middle:]]))
        if side.rows(*side.counts(partners))[bound.row] < 0:
            low, violating = middle, partners
        else:
            high, satisfying = middle, partners
    return replace(bound, violating=violating, satisfying=satisfying)


def mix(bound: Bound, side: Side) -> Partners | None:
    """Best feasible matching that takes some components from one matching and the rest from the other.

    The two matchings differ in separate alternating paths and cycles. Both are best for the shifted gains, so swapping
    one component loses nothing, and the loss of the result is the multiplier times the value of its row.
    """
    parts = _components(bound.violating, bound.satisfying)
    change = _counts(side, bound.satisfying) - _counts(side, bound.violating)
    totals = np.stack([np.bincount(parts, weights=change[:, k]) for k in (0, 1)], axis=1).astype(int)
    reached: dict[tuple[int, int], tuple[int, ...]] = {side.counts(bound.violating): ()}
    for part in np.flatnonzero(totals.any(axis=1)).tolist():
        one, two = totals[part].tolist()
        for (s, d), taken in list(reached.items()):
            reached.setdefault((s + one, d + two), (*taken, part))
    good = [counts for counts in reached if side.holds(*counts)]
    if not good:
        return None
    best = min(good, key=lambda counts: (side.rows(*counts)[bound.row], sum(counts), counts))
    return np.where(np.isin(parts, reached[best]), bound.satisfying, bound.violating)


def reduced_costs(shifted: Floats) -> tuple[Floats, float]:
    """Reduced costs of all pairs at the best assignment, and the bound they come with.

    With node prices u, v >= 0 and ``u_i + v_j >= shifted_ij``, no feasible matching gains more than ``sum u + sum v``,
    and a matching with the pair ij gains less than that by at least ``u_i + v_j - shifted_ij``.

    Returns:
        ``(left, right)`` reduced costs, and the bound.
    """
    size = max(shifted.shape)
    square = np.zeros((size, size))
    square[: shifted.shape[0], : shifted.shape[1]] = np.maximum(shifted, 0.0)
    _, column = linear_sum_assignment(square, maximize=True)
    by_owner = square[:, column]
    own = by_owner.diagonal()
    step = by_owner - own  # u_i >= u_k + step[i, k]: longest paths, which exist because the assignment is best
    u = np.zeros(size)
    for _ in range(size):
        longer = (u + step).max(axis=1)
        if (longer <= u + NOISE).all():
            break
        u = np.maximum(u, longer)
    v = np.empty(size)
    v[column] = own - u
    shift = u.min()
    u, v = u - shift, v + shift
    reduced = u[: shifted.shape[0], None] + v[: shifted.shape[1]] - shifted
    return reduced, float(u.sum() + v.sum())


def _counts(side: Side, partners: Partners) -> Floats:
    """``(left, 2)``: per left node, a pair that shares its field, a pair that does not, or neither."""
    paired = partners >= 0
    one = paired & side.same[np.arange(len(partners)), partners]
    return np.stack([one, paired & ~one], axis=1).astype(np.float64)


def _components(first: Partners, second: Partners) -> Partners:
    """Label the left nodes by their connected component in the union of the two matchings."""
    label = list(range(len(first)))

    def root(node: int) -> int:
        while label[node] != node:
            label[node] = label[label[node]]
            node = label[node]
        return node

    owner = {right: left for left, right in enumerate(first.tolist()) if right >= 0}
    for left, right in enumerate(second.tolist()):
        if right in owner:
            label[root(left)] = root(owner[right])
    return np.array([root(node) for node in range(len(first))], dtype=np.int64)
