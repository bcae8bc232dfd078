"""Positions of the rows of a store, found by their bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


class RowIndex:
    """A dictionary from rows to places that keeps 64 bits of a row, not the row.

    The key is Python's hash of the row's bytes: one call in C per row. It is seeded anew in each process, so that no
    file can be built to collide. Equal keys are a hint; the store compares the rows themselves.
    """

    def __init__(self) -> None:
        self._places: dict[int, int] = {}

    @staticmethod
    def keys(rows: NDArray[Any]) -> list[int]:
        """One key per row of ``(m, width)``."""
        raw = np.ascontiguousarray(rows).view(f"V{rows.shape[1] * rows.itemsize}")
        return list(map(hash, raw.ravel().tolist()))

    def find(self, keys: Iterable[int]) -> list[int | None]:
        """Place of the first row with each key, or ``None``."""
        return list(map(self._places.get, keys))

    def put(self, keys: Iterable[int], places: Iterable[int]) -> None:
        """Add rows; of two rows with the same key the first is found."""
        for key, place in zip(keys, places, strict=True):
            self._places.setdefault(key, place)

    def forget(self, keys: Iterable[int], places: Iterable[int]) -> None:
        """Remove rows that left their places."""
        for key, place in zip(keys, places, strict=True):
            if self._places.get(key) == place:
                del self._places[key]
