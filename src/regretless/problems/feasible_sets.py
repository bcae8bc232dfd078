"""All sets of items that fit into some capacities, listed by size: the base of two exact oracles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regretless.errors import InputError
from regretless.milp import Floats

Ids = NDArray[np.int64]
TOLERANCE = 1e-9
MOST_ITEMS = 62


@dataclass(frozen=True, eq=False)
class SetsOfSize:
    """The sets of one size that fit, in the order of their bits.

    Attributes:
        members: ``(sets, size)`` items, ascending.
        bits: ``(sets,)`` the same as binary numbers.
        loads: ``(rows, sets)`` sums of the weights.
    """

    members: Ids
    bits: Ids
    loads: Floats


def feasible_sets(weights: Floats, capacities: Floats, *, most: int) -> list[SetsOfSize]:
    """List all sets of at least one item with ``weights @ set <= capacities``.

    Args:
        weights: ``(rows, items)``, at least 0.
        capacities: ``(rows,)``.
        most: sets that may be listed.

    Raises:
        InputError: there are more items or sets than that.

    >>> [part.members.tolist() for part in feasible_sets(np.array([[3.0, 4.0, 5.0]]), np.array([7.0]), most=10)]
    [[[0], [1], [2]], [[0, 1]]]
    """
    room = (capacities + TOLERANCE * np.maximum(1.0, np.abs(capacities)))[:, None]
    items = weights.shape[1]
    if items > MOST_ITEMS:
        raise InputError(f"the oracle lists sets of at most {MOST_ITEMS} items, got {items}: use engine='highs'")
    alone = np.flatnonzero((weights <= room).all(axis=0))
    part = SetsOfSize(alone[:, None], 1 << alone, weights[:, alone])
    layers, count = [], 0
    while len(part.bits):
        layers.append(part)
        count += len(part.bits)
        if count > most:
            raise InputError(
                f"more than {most} sets of items fit the capacities {capacities.tolist()}, too many for the oracle to "
                "list: lower them, or use engine='highs'"
            )
        part = _grown(part, weights, room)
    return layers


def _grown(part: SetsOfSize, weights: Floats, room: Floats) -> SetsOfSize:
    """Sets with one item more, each built once: by the item that comes after all its members."""
    members, bits, loads = [], [], []
    for item in range(weights.shape[1]):
        load = part.loads + weights[:, item : item + 1]
        fits = np.flatnonzero((part.members[:, -1] < item) & (load <= room).all(axis=0))
        members.append(np.column_stack([part.members[fits], np.full(len(fits), item)]))
        bits.append(part.bits[fits] | (1 << item))
        loads.append(load[:, fits])
    together = np.concatenate(bits)
    order = np.argsort(together)
    return SetsOfSize(np.concatenate(members)[order], together[order], np.concatenate(loads, axis=1)[:, order])
