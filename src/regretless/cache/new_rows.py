"""Which rows of an insertion are new: they are compared with each other and with the stored rows of the same key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NewRows:
    """What a comparison found.

    Attributes:
        fresh: positions of the rows that are neither stored nor repeated, ascending.
        repeated: position of a row, and of the equal fresh row before it.
        stored: position of a row, and the place of the equal stored row.
    """

    fresh: list[int]
    repeated: list[tuple[int, int]]
    stored: list[tuple[int, int]]


def new_rows(
    rows: NDArray[Any],
    keys: Sequence[int],
    places: Sequence[int | None],
    stored_rows: Callable[[list[int]], NDArray[Any]],
) -> NewRows:
    """Compare the rows of an insertion.

    Args:
        rows: ``(m, width)``.
        keys: one hash per row; equal keys are a hint, the rows decide.
        places: of the stored row with the same key, or ``None``.
        stored_rows: the stored rows ``(k, width)`` at ``k`` places.
    """
    fresh: list[int] = []
    repeated: list[tuple[int, int]] = []
    first: dict[int, int] = {}
    for position in (k for k, place in enumerate(places) if place is None):
        before = first.setdefault(keys[position], position)
        if before != position and np.array_equal(rows[position], rows[before]):
            repeated.append((position, before))
        else:
            fresh.append(position)
    known = [(position, place) for position, place in enumerate(places) if place is not None]
    if not known:
        return NewRows(fresh, repeated, [])
    same = rows[[position for position, _ in known]] == stored_rows([place for _, place in known])
    if same.all():
        return NewRows(fresh, repeated, known)
    # Two different rows with one hash: both are stored.
    same = same.all(axis=1)
    fresh += [position for (position, _), equal in zip(known, same, strict=True) if not equal]
    return NewRows(sorted(fresh), repeated, [pair for pair, equal in zip(known, same, strict=True) if equal])
