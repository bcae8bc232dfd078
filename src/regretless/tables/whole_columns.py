"""Whole columns at once: most columns of a large table are plain numbers, or repeat a few words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any, TypeVar

import numpy as np

from regretless.milp import Floats

T = TypeVar("T")
PLAIN: tuple[set[type], ...] = ({str}, {int}, {float}, {int, float})
# Equal cells of these types have equal meanings. Equal times of two time zones have not.
REPEATABLE = (str, int, float, bool)


def plain_numbers(column: Sequence[Any]) -> Floats | None:
    """The numbers of a column whose cells are all finite numbers; ``None`` where they must be read one by one.

    >>> plain_numbers(["3", "4.5"]).tolist(), plain_numbers(["3", "n/a"])
    ([3.0, 4.5], None)
    """
    if set(map(type, column)) not in PLAIN:
        return None
    if any(type(cell) is str and "_" in cell for cell in column):  # float() reads 2024_01 as 202401
        return None
    try:
        values = np.fromiter(map(float, column), dtype=np.float64, count=len(column))
    except (ValueError, OverflowError):
        return None
    return values if np.isfinite(values).all() else None


def each_once(column: Sequence[Any], convert: Callable[[int], T]) -> list[T]:
    """``convert(position)`` per cell, called only for the first of equal cells where they are words or numbers.

    >>> each_once(["a", "b", "a"], lambda i: i)
    [0, 1, 0]
    """
    kinds = set(map(type, column)) - {NoneType}
    if len(kinds) != 1 or kinds.pop() not in REPEATABLE:
        return [convert(i) for i in range(len(column))]
    known: dict[Any, T] = {}
    for i, cell in enumerate(column):
        if cell not in known:
            known[cell] = convert(i)
    return [known[cell] for cell in column]


def number_cells(array: Any) -> list[Any] | None:
    """The cells of an array of numbers as Python numbers; ``None`` if it holds anything else, or gaps."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf" or array.ndim != 1:
        return None
    return None if np.isnan(array).any() else array.tolist()
