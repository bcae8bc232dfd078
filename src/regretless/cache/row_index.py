"""Which rows of an insertion are new: found by their bytes, compared with each other and with the stored rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

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
