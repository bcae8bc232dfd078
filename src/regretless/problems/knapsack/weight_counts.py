"""Knapsacks with few distinct weights: all counts per weight, evaluated at once.

Items of one weight differ only in their value, so an optimum takes the best items of each weight class, and only the
*counts* per class are unknown. Counts that leave room for one more item need not be looked at. What is left are some
hundred sums per instance and no loop.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.milp import Floats
from regretless.tensors import known_to_numpy

Integers = NDArray[np.int64]

# With more combinations of counts a dynamic program is faster.
MOST_COMBINATIONS = 20_000
MOST_MATRIX = 1 << 18
# Indices of small batches that are kept: for few instances it takes long to make them.
MOST_KEPT = 1 << 14


class WeightCounts:
    """The weight classes and all counts that fit.

    The CPU path uses numpy, whose calls have less overhead than those of torch: training often solves one or two
    instances at a time, and then the overhead dominates. The GPU path takes the same steps in torch.

    Args:
        members: ``(classes, most)`` items of each class, padded with the number of items.
        counts: ``(combinations, classes)``.
        items: number of items.
    """

    def __init__(self, members: Integers, counts: Integers, items: int) -> None:
        self.members, self.counts, self.items = members, counts, items
        self.size = counts.size
        self._ranks = np.arange(members.shape[1])
        self._flat = members.ravel()
        (padding,) = (self._flat == items).nonzero()
        self._padding = padding if padding.size else None
        # Whether a combination takes the best item of a class, the second best and so on. If that is small, one product
        # with it gives all totals: several times faster than to add up cumulative sums. A product adds up in an order
        # that depends on the batch. For costs in single precision that changes nothing, since double precision holds
        # their sums exactly (unless their sizes differ by a factor of millions). Others are added up one by one, so
        # that of several optima the same one is found in every batch.
        self._taken: NDArray[np.bool_] | None = None
        self._matrix: Floats | None = None
        if members.size * len(counts) <= MOST_MATRIX:
            self._taken = (self._ranks < counts[:, :, None]).reshape(len(counts), -1)
            self._matrix = np.ascontiguousarray(self._taken.T, dtype=np.float64)
        self._small = max(1, MOST_KEPT // members.size)
        self._kept = self._flat_indices(self._small)
        self._on_device: dict[torch.device, tuple[Tensor, Tensor, Tensor, Tensor | None]] = {}

    def solve(self, costs: Tensor) -> Tensor:
        """Best selections ``(batch, n)`` in float64 for costs ``(batch, n)`` to minimize."""
        if not costs.is_cpu:
            return self._solve_on_device(costs)
        if not known_to_numpy(costs):
            costs = costs.to(torch.float64)
        return torch.from_numpy(self._solve(costs.numpy()))

    def _solve(self, costs: NDArray[np.floating]) -> Floats:
        batch, shape = len(costs), self.members.shape
        starts, targets = self._kept if batch <= self._small else self._flat_indices(batch)
        # An item of positive cost is never taken. Counted as zero it keeps sums monotone, and it is dropped later.
        classed = costs.take(self._flat, axis=1, mode="clip")
        np.minimum(classed, 0.0, out=classed)
        if self._padding is not None:
            classed[:, self._padding] = 0.0
        order = classed.reshape(batch, *shape).argsort(axis=2, kind="stable")
        order += starts[:batch]
        places = order.reshape(batch, -1)
        best = classed.ravel().take(places)
        if self._matrix is not None and self._taken is not None and costs.dtype != np.float64:
            taken = self._taken.take((best.astype(np.float64) @ self._matrix).argmin(axis=1), axis=0)
        else:
            sums = np.pad(best.reshape(batch, *shape).cumsum(axis=2), ((0, 0), (0, 0), (1, 0)))
            total = np.sum([sums[:, j].take(self.counts[:, j], axis=1) for j in range(shape[0])], axis=0)
            chosen = self.counts.take(total.argmin(axis=1), axis=0)
            taken = (self._ranks < chosen[:, :, None]).reshape(batch, -1)
        taken &= best < 0.0
        solution = np.empty((batch, self.items + 1))
        solution.put(targets.take(places), taken)
        return solution[:, : self.items]

    def _flat_indices(self, batch: int) -> tuple[Integers, Integers]:
        """What a batch of at most this size needs to index whole arrays by one number, which is faster than by several.

        Returns:
            The start ``(batch, classes, 1)`` of every class among the class members of a batch, and for every class
            member its place in ``(batch, items + 1)`` solutions; what pads the classes is behind the last item.
        """
        rows = np.arange(batch)[:, None]
        classes = np.arange(len(self.members))[:, None] * self.members.shape[1]
        return rows[:, :, None] * self._flat.size + classes, (self._flat + rows * (self.items + 1)).ravel()

    def _solve_on_device(self, costs: Tensor) -> Tensor:
        members, counts, ranks, matrix = self._constants(costs.device)
        batch, shape = costs.shape[0], members.shape
        worth = torch.nn.functional.pad((-costs.to(torch.float64)).clamp(min=0.0), (0, 1))
        best, order = worth[:, members].sort(dim=2, descending=True, stable=True)
        if matrix is not None and costs.dtype != torch.float64:
            total = best.view(batch, -1) @ matrix
        else:
            sums = torch.nn.functional.pad(best.cumsum(dim=2), (1, 0))
            picked = zip(sums.unbind(1), counts.unbind(1), strict=True)
            total = torch.stack([part.index_select(1, k) for part, k in picked]).sum(dim=0)
        chosen = counts.index_select(0, total.max(dim=1).indices)
        taken = (ranks < chosen[:, :, None]) & (best > 0)
        items = members.expand(batch, *shape).gather(2, order)
        solution = torch.zeros_like(worth)
        solution.scatter_(1, items.view(batch, -1), taken.view(batch, -1).to(worth.dtype))
        return solution[:, : self.items]

    def _constants(self, device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        if device not in self._on_device:
            members, counts, ranks = (torch.from_numpy(a).to(device) for a in (self.members, self.counts, self._ranks))
            matrix = None if self._matrix is None else torch.from_numpy(self._matrix).to(device)
            self._on_device[device] = (members, counts, ranks, matrix)
        return self._on_device[device]


def make_counts(weights: Integers, capacity: int) -> WeightCounts | None:
    """The classes of ``(n,)`` weights and all counts that fit; ``None`` if there are too many."""
    distinct = np.unique(weights)
    classes = [np.flatnonzero(weights == weight) for weight in distinct]
    # The largest class comes last: it is filled greedily, so its counts need not be enumerated.
    order = sorted(range(len(distinct)), key=lambda k: len(classes[k]))
    counts = _combinations(distinct[order], [len(classes[k]) for k in order], capacity)
    if counts is None:
        return None
    # One row per class, padded with the position of a zero item behind the last one: one sort serves all classes.
    members = np.full((len(classes), max(map(len, classes))), len(weights))
    for row, k in enumerate(order):
        members[row, : len(classes[k])] = classes[k]
    return WeightCounts(members, counts, len(weights))


def _combinations(weights: Integers, sizes: list[int], capacity: int) -> Integers | None:
    """All counts ``(combinations, classes)`` that fit and leave no room for one more item; ``None`` if too many."""
    most = [min(size, capacity // int(weight)) for size, weight in zip(sizes, weights, strict=True)]
    if math.prod(count + 1 for count in most[:-1]) > MOST_COMBINATIONS:
        return None
    tried = list(itertools.product(*(range(count + 1) for count in most[:-1])))
    grid = np.array(tried, dtype=np.int64).reshape(len(tried), len(most) - 1)
    left = capacity - grid @ weights[:-1]
    last = np.minimum(left // weights[-1], most[-1])[:, None]
    fitting: Integers = np.concatenate([grid, last], axis=1)[left >= 0]
    # Where one more item of any class fits, other counts take it, too, and are no worse.
    slack = capacity - fitting @ weights
    one_more = (fitting < sizes) & (weights <= slack[:, None])
    return fitting[~one_more.any(axis=1)]
