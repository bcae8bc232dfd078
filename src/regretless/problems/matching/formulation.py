"""Diverse bipartite matching as a MILP (appendix of the paper), and its two side rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from regretless.errors import InputError
from regretless.family import Family
from regretless.milp import MILP, Floats
from regretless.problems.matching.cora import Bools

Partners = NDArray[np.int64]  # (left,): the right node of each left node, -1 for none
ROW_TOLERANCE = 1e-9


def formulate(same: Bools, p: float, q: float) -> MILP:
    """Write one instance with a binary variable ``x_ij`` for every pair, row by row.

    ``max c . x`` subject to ``sum_j x_ij <= 1``, ``sum_i x_ij <= 1``,
    ``sum m_ij x_ij >= p sum x_ij`` and ``sum (1 - m_ij) x_ij >= q sum x_ij``.

    Args:
        same: ``(left, right)`` mask m of pairs that share their field.
        p: least share of pairs that share their field.
        q: least share of pairs that do not.

    Raises:
        InputError: only the empty matching satisfies the shares.
    """
    check_shares(p, q)
    left, right = same.shape
    flat = same.ravel().astype(np.float64)
    rows = sparse.vstack(
        [
            sparse.kron(sparse.eye_array(left), np.ones((1, right))),
            sparse.kron(np.ones((1, left)), sparse.eye_array(right)),
            sparse.csr_array(np.stack([flat - p, 1.0 - flat - q])),
        ]
    )
    degree = left + right
    lower = np.concatenate([np.full(degree, -np.inf), np.zeros(2)])
    upper = np.concatenate([np.ones(degree), np.full(2, np.inf)])
    return MILP(rows, row_lower=lower, row_upper=upper)


def matching_family(same: Bools, p: float, q: float) -> Family:
    """One MILP per instance, from masks ``(instances, left, right)``."""
    return Family([formulate(one, p, q) for one in same])


def check_shares(p: float, q: float) -> None:
    """Refuse shares that are negative or sum to more than 1."""
    if not (p >= 0.0 and q >= 0.0 and p + q <= 1.0):
        raise InputError(f"p and q must not be negative and must sum to at most 1, got p={p}, q={q}")


@dataclass(frozen=True)
class Side:
    """The side rows of one instance: counts of a matching, and the values of its two rows."""

    same: Bools
    p: float
    q: float

    def counts(self, partners: Partners) -> tuple[int, int]:
        """Number of pairs that share their field, and of pairs that do not."""
        left = np.flatnonzero(partners >= 0)
        one = int(np.count_nonzero(self.same[left, partners[left]]))
        return one, len(left) - one

    def rows(self, one: int, two: int) -> tuple[float, float]:
        """Values of the two side rows; a matching is feasible if both are at least 0."""
        return one - self.p * (one + two), two - self.q * (one + two)

    def holds(self, one: int, two: int) -> bool:
        """Whether both side rows hold."""
        return min(self.rows(one, two)) >= -ROW_TOLERANCE

    def coefficients(self, row: int) -> Floats:
        """Coefficients ``(left, right)`` of a side row."""
        return self.same.astype(np.float64) - self.p if row == 0 else (~self.same).astype(np.float64) - self.q


def make_sides(same: Bools, p: float, q: float) -> tuple[Side, ...]:
    """Side rows of every instance, from masks ``(instances, left, right)``."""
    check_shares(p, q)
    if same.ndim != 3:
        raise InputError(f"same must have shape (instances, left, right), got {same.shape}")
    return tuple(Side(np.ascontiguousarray(one, dtype=bool), p, q) for one in same)
