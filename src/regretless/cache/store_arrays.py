"""The arrays of a store: solutions as columns, when each was used last, and their running sum."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.arrays import as_array
from regretless.cache.row_index import row_bytes
from regretless.tensors import known_to_numpy, scalar

# On a CPU NumPy takes up to so many solutions in half the time of torch's calls.
FEW = 512
# Up to so many solutions, one call for each takes less time than several for all.
FEW_BYTES = 8
# Columns that processors multiply together.
ALIGNED = 16


class Columns:
    """One solution per column, so that the product of a look-up needs no transposition.

    Attributes:
        reserved: ``(width, reserved)`` all columns, whether they are in use or not.
    """

    def __init__(self, width: int, dtype: torch.dtype) -> None:
        self.reserved = torch.empty(width, 0, dtype=dtype)
        self._first: Tensor | None = None
        self._rounded: Tensor | None = None
        self._padded: Tensor | None = None
        self._array: NDArray[Any] | None = None

    def __getstate__(self) -> dict[str, Any]:  # in a copy they are no views
        return vars(self) | {"_first": None, "_rounded": None, "_padded": None, "_array": None}

    @property
    def array(self) -> NDArray[Any]:
        """``reserved`` for NumPy, on a CPU. It is kept, since to make it takes as long as to take a few solutions."""
        if self._array is None:
            self._array = self.reserved.numpy()
        return self._array

    def first(self, size: int) -> Tensor:
        """``(width, size)`` view of the first columns, made once per size."""
        if self._first is None or self._first.shape[1] != size:
            self._first = self.reserved[:, :size]
        return self._first

    def rounded(self, size: int) -> Tensor:
        """``(width, m)`` view of the first columns, and of up to 15 behind them that repeat the first (``padded``).

        A multiple of 16 columns is multiplied faster than one more or less, and the shape stays while S grows a little.
        """
        wide = aligned(size)
        if self._rounded is None or self._rounded.shape[1] != wide:
            self._rounded = self.padded(size)[:, :wide]
        return self._rounded

    def padded(self, used: int) -> Tensor:
        """All columns, of which those behind the ``used`` ones repeat the first, or hold another one that was used."""
        if self._padded is not self.reserved:
            self.reserved[:, used:] = self.reserved[:, :1]
            self._padded = self.reserved
        return self.reserved

    def take(self, positions: Tensor, places: NDArray[np.int64] | None = None) -> Tensor:
        """Solutions ``(m, width)`` at positions ``(m,)``; ``places`` are the same for NumPy, if they are at hand."""
        if self.reserved.is_cuda:  # one kernel in place of two; on a CPU it would be up to four times slower
            return self.reserved.T.index_select(0, positions)
        if positions.shape[0] <= FEW:
            return torch.from_numpy(self.array.T[positions.numpy() if places is None else places])
        return self.reserved.index_select(1, positions).T.contiguous()

    def arrays(self, places: list[int] | NDArray[np.int64]) -> NDArray[Any]:
        """Solutions ``(m, width)`` at these places, in the memory of the CPU."""
        if self.reserved.is_cuda:
            return self.reserved.index_select(1, torch.tensor(places, device=self.reserved.device)).T.cpu().numpy()
        taken: NDArray[Any] = self.array.T[places]
        return taken

    def bytes_at(self, places: list[int]) -> list[bytes]:
        """The bytes of each of the solutions at these places."""
        if self.reserved.is_cuda or len(places) > FEW_BYTES:
            return row_bytes(self.arrays(places))
        array = self.array
        return [array[:, place].tobytes() for place in places]

    def put(self, rows: Tensor, places: slice | Tensor) -> None:
        """Write solutions ``(m, width)`` of any precision."""
        # NumPy takes a fifth of the time for a few solutions.
        if self.reserved.is_cpu and isinstance(places, slice) and known_to_numpy(rows):
            self.array[:, places] = as_array(rows).T
        else:
            self.reserved[:, places] = rows.detach().T.to(self.reserved.device)

    def to(self, device: torch.device) -> None:
        """Move to a device."""
        self._replace(self.reserved.to(device))

    def reserve(self, size: int) -> None:
        """Make place for ``size`` columns."""
        self._replace(widened(self.reserved, size))

    def _replace(self, reserved: Tensor) -> None:
        self.reserved, self._first, self._rounded, self._array = reserved, None, None, None


def aligned(size: int) -> int:
    """The next multiple of ``ALIGNED``."""
    return -(-size // ALIGNED) * ALIGNED


def widened(old: Tensor, size: int) -> Tensor:
    """A tensor with zeros appended to its last dimension."""
    with torch.inference_mode(False):  # such a tensor could not be written to later
        new = old.new_zeros(*old.shape[:-1], size)
    new[..., : old.shape[-1]] = old
    return new


class LastUse:
    """A stamp per place of a store, from a clock that every insertion and every use moves on.

    Attributes:
        clock: the last stamp.
    """

    def __init__(self) -> None:
        self._stamps = torch.empty(0, dtype=torch.int64)
        self.clock = 0
        # Most stores only append, and no stamp is read: those of the last places are written on request.
        self._appended = slice(0, 0)
        self._before = 0  # the clock before the first of these

    @property
    def stamps(self) -> Tensor:
        """``(places,)`` stamps."""
        self._write()
        return self._stamps

    @stamps.setter
    def stamps(self, stamps: Tensor) -> None:
        self._stamps, self._appended = stamps, slice(0, 0)

    def insert(self, places: slice | Tensor, count: int) -> None:
        """Stamp new solutions, each with its own stamp, so that the first of a batch is evicted first."""
        start, stop = self._appended.start, self._appended.stop
        if not isinstance(places, slice):
            self.stamps[places] = torch.arange(self.clock + 1, self.clock + 1 + count, device=self._stamps.device)
        elif places.start == stop and self.clock == self._before + stop - start:
            self._appended = slice(start, places.stop)
        else:
            self._write()
            self._appended, self._before = places, self.clock
        self.clock += count

    def _write(self) -> None:
        """Write the stamps of what was appended."""
        start, stop = self._appended.start, self._appended.stop
        if start < stop:
            first = self._before + 1
            self._stamps[start:stop] = torch.arange(first, first + stop - start, device=self._stamps.device)
            self._appended = slice(0, 0)

    def use(self, places: Any) -> None:
        """Stamp solutions that are used at the same time."""
        self.clock += 1
        self.stamps[places] = self.clock

    def oldest(self, among: int, count: int) -> Tensor:
        """Places ``(count,)`` with the smallest stamps of the first ``among``, in that order.

        Solutions used by one look-up have one stamp: the place decides, so that every machine evicts alike.
        """
        places = torch.arange(among, device=self.stamps.device)
        rank = self.stamps[:among] * (among + 1) + places
        return torch.topk(rank, count, largest=False, sorted=True).indices


class RunningMean:
    """Sum and number of solutions; for a family, of the feasible ones per instance.

    What was appended is added up on request: a mean that no loss reads costs nothing. On a CPU the moment at which it
    is read does not change a bit of it; on a GPU this holds for solutions of integers, whose sums are exact.

    Attributes:
        sum: ``(instances or 1, width)`` in float64.
        count: ``(instances or 1,)`` in float64.
    """

    def __init__(self, width: int, instances: int | None) -> None:
        with torch.inference_mode(False):  # such tensors could not be written to later
            self.sum = torch.zeros(instances or 1, width, dtype=torch.float64)
            self.count = torch.zeros(instances or 1, dtype=torch.float64)
        self._mean: Tensor | None = None
        self._of_all: Tensor | None = None
        self._all_served = False
        self._appended: list[slice] = []

    def to(self, device: torch.device) -> None:
        """Move to a device."""
        self.sum, self.count = self.sum.to(device), self.count.to(device)
        self._changed()

    def append(self, places: slice) -> None:
        """Add the solutions of these columns when the mean is read; they must stay where they are."""
        self._appended.append(places)

    def of(self, columns: Columns) -> RunningMean:
        """The mean with all solutions that were appended to these columns."""
        if not self._appended:
            return self
        for places in self._appended:
            self.add(columns.reserved[:, places].T.contiguous(), None)
        self._appended.clear()
        return self

    def add(self, rows: Tensor, serves: Tensor | None, sign: float = 1.0) -> None:
        """Add solutions ``(m, width)`` that serve ``(instances, m)``, or with ``sign=-1.0`` remove them."""
        if serves is None:
            if self.sum.is_cpu:  # one by one: the same bits, however many are added together
                total, add = self.sum.numpy()[0], np.add if sign > 0 else np.subtract
                for row in rows.numpy():
                    add(total, row, out=total)
            else:
                self.sum.add_(rows.sum(dim=0, dtype=torch.float64), alpha=sign)
            self.count += scalar(sign * rows.shape[0], self.count)
        else:
            weight = serves.to(torch.float64)
            self.sum += sign * (weight @ rows.to(torch.float64))
            self.count += sign * weight.sum(dim=1)
        self._changed()

    def add_instances(self, rows: Tensor, serves: Tensor) -> None:
        """Append instances that solutions ``(m, width)`` serve, by a mask ``(new instances, m)``."""
        weight = serves.to(torch.float64)
        self.sum = torch.cat([self.sum, weight @ rows.to(torch.float64)])
        self.count = torch.cat([self.count, weight.sum(dim=1)])
        self._changed()

    def mean(self, dtype: torch.dtype) -> Tensor:
        """``(instances or 1, width)``; zeros where there is no solution."""
        if self._mean is None:
            self._mean = (self.sum / self.count.clamp(min=1.0)[:, None]).to(dtype)
            self._all_served = bool((self.count > 0).all())
        return self._mean

    def of_all(self, dtype: torch.dtype) -> Tensor:
        """``(width,)`` the mean for a problem that is no family; kept, since torch takes long to read a row."""
        if self._of_all is None:
            self._of_all = self.mean(dtype)[0]
        return self._of_all

    def _changed(self) -> None:
        self._mean = self._of_all = None

    def unserved(self, instance: Tensor) -> int | None:
        """The first of these instances without a solution, or ``None``; after ``mean``."""
        if self._all_served or not bool((lost := self.count[instance] == 0).any()):
            return None
        return int(instance[lost][0])
