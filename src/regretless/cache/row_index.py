"""Which rows of an insertion are new: found by their bytes, compared with each other and with the stored rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.tensors import known_to_numpy


def normalized(solutions: Tensor, dtype: torch.dtype) -> NDArray[Any]:
    """A copy of ``(m, width)`` solutions in which -0.0 is 0.0: both are the same solution, with different bytes.

    It lies in the memory of the CPU, for hashes and comparisons. NumPy's calls take half the time of torch's, and most
    insertions are of one or two solutions that are known.

    Args:
        solutions: on any device.
        dtype: ``torch.float32`` or ``torch.float64``.
    """
    rows = solutions.detach() if solutions.requires_grad else solutions
    if not known_to_numpy(rows):
        rows = rows.to("cpu", dtype)
    kind = np.float32 if dtype == torch.float32 else np.float64
    normal: NDArray[Any] = rows.numpy().astype(kind, order="C")  # a sum that converts as well takes twice as long
    normal += 0.0
    return normal


def row_bytes(rows: NDArray[Any]) -> list[bytes]:
    """The bytes of each row of ``(m, width)``; equal solutions have equal bytes once they are ``normalized``."""
    raw: list[bytes] = np.ascontiguousarray(rows).view(f"V{rows.shape[1] * rows.itemsize}").ravel().tolist()
    return raw


class RowIndex:
    """A dictionary from rows to places that keeps 64 bits of a row, not the row.

    The key is Python's hash of the row's bytes. It is seeded anew in each process, so that no file can be built to
    collide. Equal keys are a hint; the store compares the bytes themselves.
    """

    def __init__(self) -> None:
        self._places: dict[int, int] = {}

    @staticmethod
    def keys(raw: Iterable[bytes]) -> list[int]:
        """One key per row, from ``row_bytes``."""
        return list(map(hash, raw))

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


class NewRows(NamedTuple):
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
    raw: Sequence[bytes], places: Sequence[int | None], stored_bytes: Callable[[list[int]], list[bytes]]
) -> NewRows:
    """Compare the rows of an insertion.

    Args:
        raw: the bytes of each row.
        places: of the stored row with the same key, or ``None``; equal keys are a hint, the bytes decide.
        stored_bytes: the bytes of the stored rows at places.
    """
    known = [place for place in places if place is not None]
    at_place = dict(zip(known, stored_bytes(known), strict=True)) if known else {}
    fresh: list[int] = []
    repeated: list[tuple[int, int]] = []
    stored: list[tuple[int, int]] = []
    first: dict[bytes, int] = {}
    for position, (row, place) in enumerate(zip(raw, places, strict=True)):
        if place is not None and at_place[place] == row:
            stored.append((position, place))
        elif (before := first.setdefault(row, position)) == position:
            fresh.append(position)
        else:
            repeated.append((position, before))
    return NewRows(fresh, repeated, stored)
