"""The 0-1 knapsack: take the slots of most value within a capacity."""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.knapsack_bound import KnapsackBound
from regretless.types import Solved

# Combinations of counts that are cheaper to try all at once than a dynamic programme is to run.
MOST_COMBINATIONS = 20_000
MOST_MATRIX = 1 << 18
BLOCK_VALUES = 4_000_000


class KnapsackOracle:
    """Exact solver for integer weights, batched in torch, on the device of the costs.

    Items of one weight are interchangeable but for their value, so of each weight class an optimum takes the best ones:
    only the *counts* per class are unknown. With few distinct weights (the paper's data has three) all counts but those
    of the largest class are tried at once, each filled up with that class: some hundred sums an instance and no loop.
    Otherwise it is the dynamic programme over the capacity. Everything runs in float64.

    Args:
        weights: ``(n,)`` positive whole numbers.
        capacity: whole number, at least 0.
    """

    def __init__(self, weights: ArrayLike, capacity: float) -> None:
        self.weights, room = _whole(weights, capacity)
        self.capacity = min(room, int(self.weights.sum()))  # more room than all items take is no room to search
        distinct = np.unique(self.weights)
        classes = [np.flatnonzero(self.weights == weight) for weight in distinct]
        # The largest class comes last: it is filled greedily, so its counts need not be enumerated.
        order = sorted(range(len(distinct)), key=lambda k: len(classes[k]))
        most = max(len(members) for members in classes)
        # One row a class, padded with the position of an item of no value behind the last one: one sort serves all.
        padded = np.full((len(classes), most), len(self.weights))
        for row, k in enumerate(order):
            padded[row, : len(classes[k])] = classes[k]
        self._members = torch.from_numpy(padded)
        self._ranks = torch.arange(most)
        self._matrix: Tensor | None = None
        self._counts = _combinations(distinct[order], [len(classes[k]) for k in order], self.capacity)
        if self._counts is not None:
            # Which running sums a combination adds up: by their places, and, where it is small, as a matrix of zeros
            # and ones: one product is several times faster than gathering and adding.
            combinations = self._counts.shape[0]
            if len(classes) * most * combinations <= MOST_MATRIX:
                picked = (self._counts[:, :, None] == self._ranks + 1).reshape(combinations, -1)
                self._matrix = picked.T.to(torch.float64).contiguous()

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, n)`` minimising costs; see ``regretless.types.Backend``."""
        value = -costs.to(torch.float64)
        self._to(value.device)
        values = len(self.weights) * (self.capacity + 1) if self._counts is None else self._counts.numel()
        block = max(1, BLOCK_VALUES // values)
        if len(value) <= block:
            return Solved(self._solve(value))
        return Solved(torch.cat([self._solve(part) for part in torch.split(value, block)]))

    def _solve(self, value: Tensor) -> Tensor:
        return self._programme(value) if self._counts is None else self._by_counts(value, self._counts)

    def _to(self, device: torch.device) -> None:
        if self._counts is not None and self._counts.device != device:
            self._counts, self._ranks = self._counts.to(device), self._ranks.to(device)
            self._members = self._members.to(device)
            self._matrix = None if self._matrix is None else self._matrix.to(device)

    def _by_counts(self, value: Tensor, counts: Tensor) -> Tensor:
        batch, shape = value.shape[0], self._members.shape
        # An item that costs is never taken; counting it as zero keeps sums monotone, and it is dropped at the end.
        worth = torch.nn.functional.pad(value.clamp(min=0.0), (0, 1))
        best, order = (
            worth.index_select(1, self._members.view(-1)).view(batch, *shape).sort(dim=2, descending=True, stable=True)
        )
        sums = best.cumsum(dim=2)
        if self._matrix is not None:
            total = sums.view(batch, -1) @ self._matrix
        else:
            sums = torch.nn.functional.pad(sums, (1, 0))
            picked = zip(sums.unbind(1), counts.unbind(1), strict=True)
            total = torch.stack([part.index_select(1, k) for part, k in picked]).sum(dim=0)
        chosen = counts.index_select(0, total.max(dim=1).indices)
        taken = (self._ranks < chosen[:, :, None]) & (best > 0)
        items = self._members.expand(batch, -1, -1).gather(2, order)
        solution = torch.zeros_like(worth)
        solution.scatter_(1, items.view(batch, -1), taken.view(batch, -1).to(worth.dtype))
        return solution[:, :-1]

    def _programme(self, value: Tensor) -> Tensor:
        """Dynamic programme over the capacity: ``best[b]`` after each item, and whether the item was taken at b."""
        n, capacity = len(self.weights), self.capacity
        best = value.new_zeros(len(value), capacity + 1)
        taken = torch.zeros(n, len(value), capacity + 1, dtype=torch.bool, device=value.device)
        for item, weight in enumerate(self.weights.tolist()):
            if weight > capacity:
                continue
            with_item = best[:, : capacity + 1 - weight] + value[:, item, None]
            taken[item, :, weight:] = with_item > best[:, weight:]
            best = torch.cat([best[:, :weight], torch.maximum(best[:, weight:], with_item)], dim=1)
        left = torch.full((len(value),), capacity, device=value.device)
        rows = torch.arange(len(value), device=value.device)
        solution = torch.zeros_like(value)
        for item in range(n - 1, -1, -1):
            take = taken[item, rows, left]
            solution[:, item] = take.to(value.dtype)
            left = left - take * int(self.weights[item])
        return solution


def _combinations(weights: NDArray[np.int64], sizes: list[int], capacity: int) -> Tensor | None:
    """All counts ``(combinations, classes)`` that fit and cannot take more of the last class; ``None`` if too many."""
    most = [min(size, capacity // int(weight)) for size, weight in zip(sizes, weights, strict=True)]
    if math.prod(count + 1 for count in most[:-1]) > MOST_COMBINATIONS:
        return None
    tried = list(itertools.product(*(range(count + 1) for count in most[:-1])))
    grid = np.array(tried, dtype=np.int64).reshape(len(tried), len(most) - 1)
    left = capacity - grid @ weights[:-1]
    last = np.minimum(left // weights[-1], most[-1])[:, None]
    return torch.from_numpy(np.concatenate([grid, last], axis=1)[left >= 0])


def knapsack_milp(weights: ArrayLike, capacity: float) -> MILP:
    """One row ``weights . x <= capacity`` over binaries."""
    return MILP(np.atleast_2d(np.asarray(weights, dtype=np.float64)), row_upper=float(capacity))


def knapsack_problem(
    weights: ArrayLike, capacity: float, *, engine: str = "oracle", workers: int = 1, time_limit: float | None = None
) -> Problem:
    """Return the knapsack as a problem to maximise.

    Args:
        weights: ``(n,)`` positive whole numbers.
        capacity: whole number.
        engine: ``"oracle"`` for the special exact solver, or the name of an engine for the model.
        workers: threads, for engines.
        time_limit: seconds for one solve, for engines.
    """
    milp = knapsack_milp(weights, capacity)
    name = f"knapsack-{capacity:g}"
    bound = KnapsackBound(weights, capacity)
    if engine == "oracle":
        return Problem(milp, oracle=KnapsackOracle(weights, capacity), sense="max", bound=bound, name=name)
    return Problem(milp, engine=engine, sense="max", workers=workers, time_limit=time_limit, bound=bound, name=name)


def _whole(weights: ArrayLike, capacity: float) -> tuple[NDArray[np.int64], int]:
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim != 1 or not len(given) or not np.all((given == np.round(given)) & (given >= 1)):
        raise InputError(f"weights must be a vector of positive whole numbers, got {weights!r}")
    if not (np.isfinite(capacity) and capacity == round(capacity) and capacity >= 0):
        raise InputError(f"capacity must be a whole number, at least 0, got {capacity!r}")
    return given.astype(np.int64), int(capacity)
