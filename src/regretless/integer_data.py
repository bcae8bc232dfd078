"""Rows of integer data: integer variables with coefficients that are integers or short decimals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Decimals are read exactly where one unit of the last place is far above any tolerance.
SCALES = (1.0, 2.0, 4.0, 5.0, 8.0, 10.0, 20.0, 50.0, 100.0, 1000.0)


def integer_scales(A: Any, integer: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The smallest factor that makes the coefficients of a row integers, ``(rows,)``; 0 for all other rows.

    Args:
        A: ``(rows, n)`` sparse matrix by rows.
        integer: ``(n,)`` mask of the integer variables.
    """
    rows = A.shape[0]
    row_of = np.repeat(np.arange(rows), np.diff(A.indptr))
    on_integers = np.bincount(row_of, weights=~integer[A.indices], minlength=rows) == 0
    scale = np.zeros(rows)
    for factor in SCALES:
        left = on_integers & (scale == 0)
        if not left.any():
            break
        misfits = np.bincount(row_of, weights=np.round(A.data * factor) / factor != A.data, minlength=rows)
        scale[left & (misfits == 0)] = factor
    return scale
