"""Diverse bipartite matching as a MILP (appendix of the paper)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from regretless.errors import InputError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problems.matching.instances import Bools


def formulate(same: Bools, p: float, q: float) -> MILP:
    """Write one instance with a binary ``x_ij`` for every pair, row by row.

    ``max c . x`` subject to ``sum_j x_ij <= 1``, ``sum_i x_ij <= 1``,
    ``sum m_ij x_ij >= p sum x_ij`` and ``sum (1 - m_ij) x_ij >= q sum x_ij``.

    Args:
        same: ``(left, right)`` mask m of pairs that share their field.
        p: least share of pairs of one field.
        q: least share of pairs of two fields.

    Raises:
        InputError: the shares leave nothing but the empty matching.
    """
    check_shares(p, q)
    left, right = same.shape
    flat = same.ravel().astype(np.float64)
    rows = sparse.vstack(
        [
            sparse.kron(sparse.eye_array(left), np.ones((1, right))),
            sparse.kron(np.ones((1, left)), sparse.eye_array(right)),
            sparse.csr_array(np.stack([flat - p, 1.0 - flat - q])),
        ],
        format="csr",
    )
    degree = left + right
    lower = np.concatenate([np.full(degree, -np.inf), np.zeros(2)])
    upper = np.concatenate([np.ones(degree), np.full(2, np.inf)])
    return MILP(rows, row_lower=lower, row_upper=upper)


def matching_family(same: Bools, p: float, q: float) -> Family:
    """One MILP an instance, from masks ``(instances, left, right)``."""
    return Family([formulate(one, p, q) for one in same])


def check_shares(p: float, q: float) -> None:
    """Refuse shares that are negative or sum to more than 1."""
    if not (p >= 0.0 and q >= 0.0 and p + q <= 1.0):
        raise InputError(f"p and q must be shares from 0 on that sum to at most 1, got p={p}, q={q}")
