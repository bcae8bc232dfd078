"""Positions of the rows of a store, found by their bytes, and rows with one form of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def normalized(solutions: Tensor, dtype: torch.dtype) -> NDArray[Any]:
    """A copy of ``(m, width)`` solutions in which -0.0 is 0.0: both are the same solution, with different bytes.

    It lies in the memory of the CPU, for hashes and comparisons. NumPy's calls take half the time of torch's, and most
    insertions are of one or two solutions that are known.

    Args:
        solutions: on any device.
        dtype: ``torch.float32`` or ``torch.float64``.
    """
    rows = solutions.detach().cpu()
    if rows.dtype == torch.bfloat16:  # unknown to NumPy
        rows = rows.to(dtype)
    kind = np.float32 if dtype == torch.float32 else np.float64
    normal: NDArray[Any] = np.add(rows.numpy(), 0.0, dtype=kind, order="C", casting="unsafe")
    return normal


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
