"""The easy set of a programme: disjoint groups and a box, over which a linear function is minimised at once."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from regretless.cache.bounds.groups import Group, whole_bounds
from regretless.milp import MILP, Floats

# A reduced cost of this size, relative to what it is the difference of, is rounding and counts as zero.
ROUNDING = 1e-12


class EasySet:
    """Minimise ``(c' - scale * offset) . x`` over the groups and the box, for many costs and offsets in one step.

    Variables of one group with one cost column (a task's start on several machines) differ only in their offsets, so
    the largest offset stands for all of them. Groups of like size are padded to one shape: their minima are one
    ``amin``. 'At most one' has one more member that costs nothing.

    Args:
        milp: the programme.
        groups: its disjoint group rows.
    """

    def __init__(self, milp: MILP, groups: list[Group]) -> None:
        self._milp = milp
        self._columns, self._slot_of, slots = _slots(milp, groups)
        self._slots = len(self._columns)
        self._blocks = [torch.from_numpy(block) for block in _blocks(slots, groups, self._slots)]
        grouped = np.zeros(milp.n, dtype=bool)
        for group in groups:
            grouped[group.columns] = True
        lower, upper = whole_bounds(milp)
        box = np.flatnonzero(~grouped & ((lower != 0.0) | (upper != 0.0)))
        self._box = box
        self._lower, self._upper = _finite(lower[box]), _finite(upper[box])
        self._no_lower = torch.from_numpy(np.flatnonzero(np.isneginf(lower[box])))
        self._no_upper = torch.from_numpy(np.flatnonzero(np.isposinf(upper[box])))
        self._map = _cost_columns(milp, np.concatenate([self._columns, box]).astype(np.int64))
        self.size = sum(block.numel() for block in self._blocks) + len(box)

    def costs(self, costs: Tensor) -> Tensor:
        """Costs ``(batch, width)`` to those of the distinct grouped columns and of the box, ``(batch, columns)``."""
        if isinstance(self._map, Tensor) and self._map.dtype == torch.int64:
            return costs[:, self._map]
        return costs @ self._map

    def offsets(self, priced: Floats) -> list[Tensor]:
        """Lay ``A'y`` ``(K, n)`` out as the blocks and the box need it; done once a set of multipliers."""
        slots = np.full((len(priced), self._slots + 2), -np.inf)
        if self._slots:
            inside = self._slot_of >= 0
            np.maximum.at(slots.T, self._slot_of[inside], priced.T[inside])
        slots[:, self._slots] = 0.0  # none of the group; the last one pads, and is never the least
        laid = [torch.from_numpy(slots[:, block.numpy().ravel()].reshape(-1, *block.shape)) for block in self._blocks]
        return [*laid, torch.from_numpy(np.ascontiguousarray(priced[:, self._box]))]

    def minimum(self, costs: Tensor, offsets: list[Tensor], scale: Tensor) -> Tensor:
        """Minima ``(batch, K)`` over the easy set.

        Args:
            costs: ``(batch, columns)`` as ``costs()`` gives them.
            offsets: as ``offsets()`` gives them.
            scale: ``(batch,)`` positive factors of the offsets.
        """
        total = costs.new_zeros(len(costs), len(offsets[-1]))
        grouped = torch.nn.functional.pad(costs[:, : self._slots], (0, 2))
        for block, offset in zip(self._blocks, offsets[:-1], strict=True):
            mine = grouped[:, block][:, None]
            total += (mine - scale[:, None, None, None] * offset[None]).amin(dim=3).sum(dim=2)
        if len(self._box):
            own, offset = costs[:, None, self._slots :], scale[:, None, None] * offsets[-1][None]
            reduced = own - offset
            positive, negative = reduced.clamp(min=0.0), reduced.clamp(max=0.0)
            total += positive @ self._lower + negative @ self._upper
            if len(self._no_lower) or len(self._no_upper):
                noise = ROUNDING * (own.abs() + offset.abs())
                endless = (positive > noise)[..., self._no_lower].any(dim=2)
                endless |= (-negative > noise)[..., self._no_upper].any(dim=2)
                total.masked_fill_(endless, -torch.inf)
        return total


def _slots(milp: MILP, groups: list[Group]) -> tuple[NDArray[np.int64], NDArray[np.int64], list[NDArray[np.int64]]]:
    """One slot for the columns of a group that cost the same.

    Returns:
        a column that stands for each slot, the slot of each variable (-1 outside the groups), the slots of each group.
    """
    slot_of = np.full(milp.n, -1, dtype=np.int64)
    columns: list[int] = []
    members = []
    by_column = None if milp.cost_map is None else milp.cost_map.tocsc()
    for group in groups:
        known: dict[tuple[bytes, bytes, float], int] = {}
        for column in group.columns.tolist():
            if by_column is None:
                key = (column.to_bytes(8, "little"), b"", 0.0)
            else:
                part = slice(by_column.indptr[column], by_column.indptr[column + 1])
                key = (by_column.indices[part].tobytes(), by_column.data[part].tobytes(), milp.fixed_cost[column])
            if key not in known:
                known[key] = len(columns)
                columns.append(column)
            slot_of[column] = known[key]
        members.append(np.array(list(known.values()), dtype=np.int64))
    return np.array(columns, dtype=np.int64), slot_of, members


def _blocks(slots: list[NDArray[np.int64]], groups: list[Group], count: int) -> list[NDArray[np.int64]]:
    """Groups whose sizes differ by less than a factor of two side by side in ``(groups, size)`` arrays."""
    full = [np.append(mine, count) if group.optional else mine for mine, group in zip(slots, groups, strict=True)]
    by_size: dict[int, list[NDArray[np.int64]]] = {}
    for members in full:
        by_size.setdefault(len(members).bit_length(), []).append(members)
    blocks = []
    for _, alike in sorted(by_size.items()):
        block = np.full((len(alike), max(map(len, alike))), count + 1, dtype=np.int64)
        for row, members in zip(block, alike, strict=True):
            row[: len(members)] = members
        blocks.append(block)
    return blocks


def _cost_columns(milp: MILP, columns: NDArray[np.int64]) -> Tensor:
    """The map from costs to the costs of ``columns``: positions where it is the identity, else a matrix."""
    if milp.cost_map is None and not milp.has_fixed_cost:
        return torch.from_numpy(columns)
    cost_map = sparse.eye_array(milp.n, format="csr") if milp.cost_map is None else milp.cost_map
    rows = [cost_map] + ([sparse.csr_array(milp.fixed_cost[None])] if milp.has_fixed_cost else [])
    return torch.from_numpy(sparse.csc_array(sparse.vstack(rows, format="csc"))[:, columns].toarray())


def _finite(bounds: Floats) -> Tensor:
    return torch.from_numpy(np.where(np.isfinite(bounds), bounds, 0.0))
