"""The easy set of a MILP: disjoint groups and a box, over which a linear function has a closed-form minimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from regretless.milp import MILP, TOLERANCE, Floats

Indices = NDArray[np.int64]
# A reduced cost of this size, relative to the terms that it adds up, is a rounding error and counts as zero.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Group:
    """One row of the easy set.

    Attributes:
        row: its position in the MILP.
        columns: the variables that may be 1, without those fixed at 0.
        optional: whether all of them may be 0 ('at most one').
    """

    row: int
    columns: Indices
    optional: bool


def find_groups(milp: MILP) -> list[Group]:
    """Find disjoint group rows.

    In a group row all coefficients are equal, every variable is at least 0 and may be 1 (or is fixed at 0), and the
    bounds of the row, divided by the coefficient, are 1 and 1 (exactly one) or at most 0 and 1 (at most one); bounds of
    integer variables are rounded inward first. Over such a row a linear function has its minimum at a single variable,
    whether the variables are integer or not.

    Of rows that share a variable only one is used: 'exactly one' before 'at most one', then the larger row, then the
    earlier one.

    >>> [(g.row, g.columns.tolist(), g.optional) for g in find_groups(MILP([[1, 1, 0], [0, 1, 1]], row_upper=[1, 1]))]
    [(0, [0, 1], True)]
    """
    lower, upper = milp.integer_bounds()
    matrix = milp.A
    found = []
    for row in range(matrix.shape[0]):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        columns, values = matrix.indices[part], matrix.data[part]
        if not len(columns) or (values != values[0]).any():
            continue
        free = columns[(lower[columns] != 0.0) | (upper[columns] != 0.0)].astype(np.int64)
        if not len(free) or (lower[free] != 0.0).any() or (upper[free] < 1.0).any():
            continue
        kind = _kind(milp.row_lower[row], milp.row_upper[row], values[0], bool(milp.integer[free].all()))
        if kind is not None:
            found.append(Group(row, free, kind))
    found.sort(key=lambda group: (group.optional, -len(group.columns), group.row))
    taken = np.zeros(milp.n, dtype=bool)
    chosen = []
    for group in found:
        if not taken[group.columns].any():
            taken[group.columns] = True
            chosen.append(group)
    return sorted(chosen, key=lambda group: group.row)


def _kind(low: float, high: float, coefficient: float, integer: bool) -> bool | None:
    """False for 'exactly one', True for 'at most one', ``None`` for any other row."""
    low, high = sorted((low / coefficient, high / coefficient))
    if integer:
        low, high = np.ceil(low - TOLERANCE), np.floor(high + TOLERANCE)
    if high != 1.0:
        return None
    if low == 1.0:
        return False
    return True if low <= 0.0 else None


@dataclass(frozen=True)
class Offsets:
    """``A'y`` of K multipliers, arranged as the easy set needs it.

    Attributes:
        blocks: one tensor ``(K, groups, size)`` per block of groups.
        box: ``(K, box)``.
        box_sizes: ``(K, box)`` the terms of ``box`` by absolute value: where they cancel, rounding is relative to them.
    """

    blocks: list[Tensor]
    box: Tensor
    box_sizes: Tensor


class EasySet:
    """Minimize ``(c' - scale * offset) . x`` over the groups and the box, for many costs and offsets at once.

    Variables of one group with equal cost columns (the start of a task on several machines) differ only in their
    offsets, so the largest offset represents all of them. Groups of similar size are padded to one shape, so that one
    ``amin`` gives their minima. 'At most one' has an additional member of cost zero.
    """

    def __init__(self, milp: MILP, groups: list[Group]) -> None:
        self._columns, self._slot_of, slots = _slots(milp, groups)
        self._slots, self._groups = len(self._columns), [group.columns for group in groups]
        self._blocks = [torch.from_numpy(block) for block in _blocks(slots, groups, self._slots)]
        grouped = np.zeros(milp.n, dtype=bool)
        for group in groups:
            grouped[group.columns] = True
        lower, upper = milp.integer_bounds()
        box = np.flatnonzero(~grouped & ((lower != 0.0) | (upper != 0.0)))
        self._box = box
        self._lower, self._upper = _finite(lower[box]), _finite(upper[box])
        self._no_lower = torch.from_numpy(np.flatnonzero(np.isneginf(lower[box])))
        self._no_upper = torch.from_numpy(np.flatnonzero(np.isposinf(upper[box])))
        self._map = _cost_columns(milp, np.concatenate([self._columns, box]).astype(np.int64))
        self.size = sum(block.numel() for block in self._blocks) + len(box)

    def costs(self, costs: Tensor) -> Tensor:
        """Map costs ``(batch, width)`` to those of the slots and of the box, ``(batch, columns)``."""
        return costs[:, self._map] if self._map.dtype == torch.int64 else costs @ self._map

    def offsets(self, priced: Floats, sizes: Floats) -> Offsets:
        """Arrange ``A'y`` and ``|A|'|y|``, both ``(K, n)``, for the blocks and the box; once per set of multipliers."""
        slots = np.full((len(priced), self._slots + 2), -np.inf)
        inside = self._slot_of >= 0
        np.maximum.at(slots.T, self._slot_of[inside], priced.T[inside])
        slots[:, self._slots] = 0.0  # no member of the group; the last slot is padding and is never the minimum
        laid = [torch.from_numpy(slots[:, block.numpy().ravel()].reshape(-1, *block.shape)) for block in self._blocks]
        box, box_sizes = (torch.from_numpy(np.ascontiguousarray(part[:, self._box])) for part in (priced, sizes))
        return Offsets(laid, box, box_sizes)

    def largest(self, sizes: Floats) -> Floats:
        """The most ``(K,)`` that variables of the easy set make of sizes ``(K, n)``, at least 0, by finite bounds."""
        total: Floats = sizes[:, self._box] @ torch.maximum(self._lower.abs(), self._upper.abs()).numpy()
        for columns in self._groups:
            total = total + sizes[:, columns].max(axis=1)
        return total

    def minimum(self, costs: Tensor, offsets: Offsets, scale: Tensor) -> Tensor:
        """Minima ``(batch, K)`` over the easy set.

        Args:
            costs: ``(batch, columns)`` from ``costs()``.
            offsets: from ``offsets()``.
            scale: ``(batch,)`` positive factors of the offsets.
        """
        total = costs.new_zeros(len(costs), len(offsets.box))
        grouped = torch.nn.functional.pad(costs[:, : self._slots], (0, 2))
        for block, offset in zip(self._blocks, offsets.blocks, strict=True):
            own = grouped[:, block][:, None]
            total += (own - scale[:, None, None, None] * offset[None]).amin(dim=3).sum(dim=2)
        if len(self._box):
            box, factor = costs[:, None, self._slots :], scale[:, None, None]
            reduced = box - factor * offsets.box
            positive, negative = reduced.clamp(min=0.0), reduced.clamp(max=0.0)
            total += positive @ self._lower + negative @ self._upper
            if len(self._no_lower) or len(self._no_upper):
                noise = ROUNDING * (box.abs() + factor * offsets.box_sizes)
                unbounded = (positive > noise)[..., self._no_lower].any(dim=2)
                unbounded |= (-negative > noise)[..., self._no_upper].any(dim=2)
                total.masked_fill_(unbounded, -torch.inf)
        return total


def _slots(milp: MILP, groups: list[Group]) -> tuple[Indices, Indices, list[Indices]]:
    """Assign one slot to all columns of a group with equal costs.

    Returns:
        One column per slot, the slot of each variable (-1 outside the groups), and the slots of each group.
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


def _blocks(slots: list[Indices], groups: list[Group], count: int) -> list[Indices]:
    """Arrange groups whose sizes differ by less than a factor of two in ``(groups, size)`` arrays."""
    full = [np.append(own, count) if group.optional else own for own, group in zip(slots, groups, strict=True)]
    by_size: dict[int, list[Indices]] = {}
    for members in full:
        by_size.setdefault(len(members).bit_length(), []).append(members)
    blocks = []
    for _, similar in sorted(by_size.items()):
        block = np.full((len(similar), max(map(len, similar))), count + 1, dtype=np.int64)
        for row, members in zip(block, similar, strict=True):
            row[: len(members)] = members
        blocks.append(block)
    return blocks


def _cost_columns(milp: MILP, columns: Indices) -> Tensor:
    """The map from costs to the costs of ``columns``: positions if the cost map is the identity, else a matrix."""
    if milp.cost_map is None and not milp.has_fixed_cost:
        return torch.from_numpy(columns)
    cost_map = sparse.eye_array(milp.n, format="csr") if milp.cost_map is None else milp.cost_map
    rows = [cost_map] + ([sparse.csr_array(milp.fixed_cost[None])] if milp.has_fixed_cost else [])
    return torch.from_numpy(sparse.csc_array(sparse.vstack(rows, format="csc"))[:, columns].toarray())


def _finite(bounds: Floats) -> Tensor:
    return torch.from_numpy(np.where(np.isfinite(bounds), bounds, 0.0))
