"""The matching without its side rows, and what one multiplier tells about the matching with them.

Without side rows the problem is an assignment. With ``s`` pairs of one field and ``d`` of two, row 1 reads
``(1 - p) s - p d >= 0`` and row 2 ``(1 - q) d - q s >= 0``. Where the best assignment breaks one of them, that row is
tight in the relaxation and the other row plays no part (p + q <= 1), so one multiplier gives the whole bound
``L(mu) = max over matchings of gain + mu * row``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from regretless.milp import Floats
from regretless.problems.matching.instances import Bools

Partners = NDArray[np.int64]  # (left,): the right node of each left node, -1 for none
STEPS = 200
ROW_TOLERANCE = 1e-9
NOISE = 1e-12  # relative to gains scaled to at most 1
LEAN = 1e-7  # so small that only ties are decided by it


@dataclass(frozen=True)
class Side:
    """Shares and fields of one instance: counts of a matching, and the values of its two side rows."""

    same: Bools
    p: float
    q: float

    def counts(self, partners: Partners) -> tuple[int, int]:
        """Pairs of one field and of two."""
        left = np.flatnonzero(partners >= 0)
        one = int(np.count_nonzero(self.same[left, partners[left]]))
        return one, len(left) - one

    def rows(self, one: int, two: int) -> tuple[float, float]:
        """Values of the two side rows; a matching is feasible where both are at least 0."""
        return one - self.p * (one + two), two - self.q * (one + two)

    def holds(self, one: int, two: int) -> bool:
        """Whether both side rows hold."""
        return min(self.rows(one, two)) >= -ROW_TOLERANCE

    def coefficients(self, row: int) -> Floats:
        """Coefficients ``(left, right)`` of a side row."""
        return self.same.astype(np.float64) - self.p if row == 0 else (~self.same).astype(np.float64) - self.q


def assign(gain: Floats) -> Partners:
    """Best matching with no side rows; pairs that gain nothing stay apart."""
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
    """The best multiplier: the gains it makes, and two matchings that are best for them, on both sides of the row."""

    multiplier: float
    row: int
    shifted: Floats
    breaking: Partners
    keeping: Partners


def best_multiplier(gain: Floats, side: Side, start: Partners) -> Bound:
    """Minimise the convex piecewise linear L from a best assignment that breaks a row, by secants.

    Every matching is a line of L. The lines of a matching that breaks the row and of one that keeps it cross at a new
    multiplier; either no line lies above the crossing, which is then the minimum, or a better one replaces one of them.
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
    """Bring the two matchings of a bound closer to each other, where ties leave many that are best.

    Some left nodes lean a little towards keeping the row, the others towards breaking it; the number of those that lean
    towards keeping it is halved between a matching that breaks the row and one that keeps it.
    """
    lean = LEAN * max(1.0, float(bound.shifted.max())) * side.coefficients(bound.row)
    low, high = 0, len(lean)
    breaking, keeping = bound.breaking, bound.keeping
    while high - low > 1:
        middle = (low + high) // 2
        partners = assign(bound.shifted + np.concatenate([lean[:middle], -lean[middle:]]))
        if side.rows(*side.counts(partners))[bound.row] < 0:
            low, breaking = middle, partners
        else:
            high, keeping = middle, partners
    return replace(bound, breaking=breaking, keeping=keeping)


def mix(bound: Bound, side: Side) -> Partners | None:
    """Best feasible matching among those that take some parts of one matching and the rest of the other.

    The two matchings differ in separate alternating paths and cycles. Both are best for the shifted gains, so each part
    may be swapped for itself at no loss, and the loss of the result is the multiplier times the value of its row.
    """
    parts = _parts(bound.breaking, bound.keeping)
    change = _counts(side, bound.keeping) - _counts(side, bound.breaking)
    totals = np.stack([np.bincount(parts, weights=change[:, k]) for k in (0, 1)], axis=1).astype(int)
    begin = side.counts(bound.breaking)
    reached: dict[tuple[int, int], tuple[int, ...]] = {begin: ()}
    for part in np.flatnonzero(totals.any(axis=1)).tolist():
        one, two = totals[part].tolist()
        for (s, d), taken in list(reached.items()):
            reached.setdefault((s + one, d + two), (*taken, part))
    good = [counts for counts in reached if side.holds(*counts)]
    if not good:
        return None
    best = min(good, key=lambda counts: (side.rows(*counts)[bound.row], sum(counts), counts))
    return np.where(np.isin(parts, reached[best]), bound.keeping, bound.breaking)


def prices(shifted: Floats) -> tuple[Floats, float]:
    """Reduced costs of all pairs at the best assignment, and the bound that they come with.

    With prices u, v >= 0 of the nodes, ``u_i + v_j >= shifted_ij``: no feasible matching gains more than
    ``sum u + sum v``, and one that holds the pair ij gains less than that by at least ``u_i + v_j - shifted_ij``.

    Returns:
        ``(left, right)`` reduced costs, and the bound.
    """
    size = max(shifted.shape)
    square = np.zeros((size, size))
    square[: shifted.shape[0], : shifted.shape[1]] = np.maximum(shifted, 0.0)
    _, column = linear_sum_assignment(square, maximize=True)
    by_owner = square[:, column]
    own = by_owner.diagonal()
    step = by_owner - own  # u_i >= u_k + step[i, k]: longest paths, which exist since the assignment is best
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
    """``(left, 2)``: one pair of one field, one of two, or none."""
    paired = partners >= 0
    one = paired & side.same[np.arange(len(partners)), partners]
    return np.stack([one, paired & ~one], axis=1).astype(np.float64)


def _parts(first: Partners, second: Partners) -> Partners:
    """Label the left nodes by the connected part of the two matchings that they belong to."""
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
