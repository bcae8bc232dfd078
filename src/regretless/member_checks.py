"""Which decisions are feasible for which members of a family, for many members and decisions at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from regretless.milp import MILP, Floats, integral, rounded, with_tolerance

# Comparisons of one block, which bound the memory.
BLOCK = 1 << 23


def feasible_members(milps: Sequence[MILP], x: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Check decisions ``(m, n)`` against members; the result is ``(members, m)``.

    Members that share their rows (variations of one model) are checked together: what is equal in all of them is
    compared once, and only rows and bounds that differ are compared per member.
    """
    mask = np.empty((len(milps), len(x)), dtype=np.bool_)
    alike: dict[bytes, list[int]] = {}
    for i, milp in enumerate(milps):
        alike.setdefault(milp.integer.tobytes(), []).append(i)
    for some in alike.values():
        mask[some] = _with_one_rounding([milps[i] for i in some], x, tolerance)
    return mask


def _with_one_rounding(milps: Sequence[MILP], x: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Check decisions against members with the same integer variables."""
    mask = np.tile(integral(milps[0], x, tolerance), (len(milps), 1))
    x = rounded(milps[0], x)
    groups: dict[int, list[int]] = {}
    for i, milp in enumerate(milps):
        groups.setdefault(id(milp.A), []).append(i)
    activity = sparse.vstack([milps[some[0]].A for some in groups.values()], format="csr") @ x.T
    start = 0
    for some in groups.values():
        stop = start + milps[some[0]].A.shape[0]
        mask[some] &= _together([milps[i] for i in some], x, activity[start:stop], tolerance)
        start = stop
    return mask


def _together(milps: list[MILP], x: Floats, activity: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Check decisions against members with the same rows, whose values are ``activity`` ``(rows, m)``."""
    mask = np.ones((len(milps), len(x)), dtype=np.bool_)
    of_integers = milps[0].integer_scale > 0
    sides = (
        (activity, [milp.row_lower for milp in milps], [milp.row_upper for milp in milps], of_integers),
        (x.T, [milp.lower for milp in milps], [milp.upper for milp in milps], milps[0].integer),
    )
    for values, lows, highs, exact in sides:
        low, high = with_tolerance(np.stack(lows), np.stack(highs), tolerance, exact)
        differ = (low != low[0]).any(axis=0) | (high != high[0]).any(axis=0)
        mask &= _inside(values[~differ], low[:1, ~differ], high[:1, ~differ])
        for block in _blocks(len(milps), int(differ.sum()) * len(x)):
            mask[block] &= _inside(values[differ], low[block][:, differ], high[block][:, differ])
    return mask


def _inside(values: Floats, low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Compare values ``(k, m)`` with bounds ``(members, k)``; the result is ``(members, m)``."""
    return np.asarray(((values >= low[:, :, None]) & (values <= high[:, :, None])).all(axis=1))


def _blocks(members: int, each: int) -> Iterator[slice]:
    size = max(1, BLOCK // max(each, 1))
    for start in range(0, members, size):
        yield slice(start, start + size)
