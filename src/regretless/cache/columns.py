"""Solutions as the columns of one tensor that grows by doubling."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# On a CPU NumPy takes up to so many solutions in half the time of torch's calls.
FEW = 512


class Columns:
    """One solution per column, so that the product of a look-up needs no transposition.

    Attributes:
        reserved: ``(width, reserved)`` all columns, whether they are in use or not.
    """

    def __init__(self, width: int, dtype: torch.dtype) -> None:
        self.reserved = torch.empty(width, 0, dtype=dtype)
        self._first: Tensor | None = None
        self._padded: Tensor | None = None

    def first(self, size: int) -> Tensor:
        """``(width, size)`` view of the first columns, made once per size."""
        if self._first is None or self._first.shape[1] != size:
            self._first = self.reserved[:, :size]
        return self._first

    def padded(self, used: int) -> Tensor:
        """All columns, of which those behind the ``used`` ones repeat the first, or hold another one that was used."""
        if self._padded is not self.reserved:
            self.reserved[:, used:] = self.reserved[:, :1]
            self._padded = self.reserved
        return self.reserved

    def take(self, positions: Tensor) -> Tensor:
        """Solutions ``(m, width)`` at positions ``(m,)``."""
        if self.reserved.is_cuda:  # one kernel in place of two; on a CPU it would be up to four times slower
            return self.reserved.T.index_select(0, positions)
        if positions.shape[0] <= FEW:
            return torch.from_numpy(self.arrays(positions.numpy()))
        return self.reserved.index_select(1, positions).T.contiguous()

    def arrays(self, places: list[int] | NDArray[np.int64]) -> NDArray[Any]:
        """Solutions ``(m, width)`` at these places, in the memory of the CPU."""
        if self.reserved.is_cuda:
            return self.reserved.index_select(1, torch.tensor(places, device=self.reserved.device)).T.cpu().numpy()
        array: NDArray[Any] = self.reserved.numpy()
        return array.T[places]

    def to(self, device: torch.device) -> None:
        """Move to a device."""
        self.reserved, self._first = self.reserved.to(device), None

    def reserve(self, size: int) -> None:
        """Make place for ``size`` columns."""
        self.reserved, self._first = widened(self.reserved, size), None


def widened(old: Tensor, size: int) -> Tensor:
    """A tensor with zeros appended to its last dimension."""
    new = old.new_zeros(*old.shape[:-1], size)
    new[..., : old.shape[-1]] = old
    return new
