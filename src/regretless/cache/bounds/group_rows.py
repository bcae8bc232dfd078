"""Group rows of a MILP: 'exactly one' or 'at most one' of some variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regretless.milp import MILP, TOLERANCE

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """One row of the easy set.

    Attributes:
        row: its position in the MILP.
        columns: the variables that may be 1, without those fixed at 0.
        optional: whether all of them may be 0 ('at most one').
    """

    row: int
    columns: Indices
    optional: bool


def find_groups(milp: MILP) -> list[Group]:
    """Find disjoint group rows.

    In a group row all coefficients are equal, every variable is at least 0 and may be 1 (or is fixed at 0), and the
    bounds of the row, divided by the coefficient, are 1 and 1 (exactly one) or at most 0 and 1 (at most one); bounds of
    integer variables are rounded inward first. Over such a row a linear function has its minimum at a single variable,
    whether the variables are integer or not.

    Of rows that share a variable only one is used: 'exactly one' before 'at most one', then the larger row, then the
    earlier one.

    >>> [(g.row, g.columns.tolist(), g.optional) for g in find_groups(MILP([[1, 1, 0], [0, 1, 1]], row_upper=[1, 1]))]
    [(0, [0, 1], True)]
    """
    lower, upper = milp.integer_bounds()
    matrix = milp.A
    found = []
    for row in range(matrix.shape[0]):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        columns, values = matrix.indices[part], matrix.data[part]
        if not len(columns) or (values != values[0]).any():
            continue
        free = columns[(lower[columns] != 0.0) | (upper[columns] != 0.0)].astype(np.int64)
        if not len(free) or (lower[free] != 0.0).any() or (upper[free] < 1.0).any():
            continue
        kind = _kind(milp.row_lower[row], milp.row_upper[row], values[0], bool(milp.integer[free].all()))
        if kind is not None:
            found.append(Group(row, free, kind))
    found.sort(key=lambda group: (group.optional, -len(group.columns), group.row))
    taken = np.zeros(milp.n, dtype=bool)
    chosen = []
    for group in found:
        if not taken[group.columns].any():
            taken[group.columns] = True
            chosen.append(group)
    return sorted(chosen, key=lambda group: group.row)


def _kind(low: float, high: float, coefficient: float, integer: bool) -> bool | None:
    """False for 'exactly one', True for 'at most one', ``None`` for any other row."""
    low, high = sorted((low / coefficient, high / coefficient))
    if integer:
        low, high = np.ceil(low - TOLERANCE), np.floor(high + TOLERANCE)
    if high != 1.0:
        return None
    if low == 1.0:
        return False
    return True if low <= 0.0 else None
