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
from regretless.types import Solved

# Combinations of counts that are cheaper to try all at once than a dynamic programme is to run.
MOST_COMBINATIONS = 20_000
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
        self.weights, self.capacity = _whole(weights, capacity)
        distinct = np.unique(self.weights)
        members = [np.flatnonzero(self.weights == weight) for weight in distinct]
        # The largest class comes last: it is filled greedily, so its counts need not be enumerated.
        order = sorted(range(len(distinct)), key=lambda k: len(members[k]))
        self._members = [torch.from_numpy(members[k]) for k in order]
        sizes = [min(len(members[k]), self.capacity // int(distinct[k])) for k in order]
        self._counts: Tensor | None = None
        if math.prod(size + 1 for size in sizes[:-1]) <= MOST_COMBINATIONS:
            grid = np.array(list(itertools.product(*(range(size + 1) for size in sizes[:-1]))), dtype=np.int64)
            grid = grid.reshape(-1, len(sizes) - 1)
            left = self.capacity - grid @ distinct[order[:-1]]
            last = np.minimum(left // distinct[order[-1]], sizes[-1])[:, None]
            self._counts = torch.from_numpy(np.concatenate([grid, last], axis=1)[left >= 0].T.copy())

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, n)`` minimising costs; see ``regretless.types.Backend``."""
        value = -costs.to(torch.float64)
        if self._counts is None:
            return Solved(self._programme(value))
        block = max(1, BLOCK_VALUES // self._counts.shape[1])
        if len(value) <= block:
            return Solved(self._by_counts(value, self._counts))
        return Solved(torch.cat([self._by_counts(part, self._counts) for part in torch.split(value, block)]))

    def _by_counts(self, value: Tensor, counts: Tensor) -> Tensor:
        if counts.device != value.device:
            counts = self._counts = counts.to(value.device)
            self._members = [members.to(value.device) for members in self._members]
        worth = value.clamp(min=0.0)  # an item that costs is never taken; counting it as zero keeps sums monotone
        total, ranked = None, []
        for members, count in zip(self._members, counts, strict=True):
            best, order = worth[:, members].sort(dim=1, descending=True, stable=True)
            sums = torch.nn.functional.pad(best.cumsum(dim=1), (1, 0)).index_select(1, count)
            total = sums if total is None else total.add_(sums)
            ranked.append(order)
        assert total is not None
        chosen = counts[:, total.argmax(dim=1)]
        solution = torch.zeros_like(value)
        for members, count, order in zip(self._members, chosen, ranked, strict=True):
            taken = (torch.arange(len(members), device=value.device) < count[:, None]).to(value.dtype)
            solution.scatter_(1, members[order], taken)
        return solution * (value > 0)

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
    if engine == "oracle":
        return Problem(milp, oracle=KnapsackOracle(weights, capacity), sense="max", name=name)
    return Problem(milp, engine=engine, sense="max", workers=workers, time_limit=time_limit, name=name)


def _whole(weights: ArrayLike, capacity: float) -> tuple[NDArray[np.int64], int]:
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim != 1 or not len(given) or not np.all((given == np.round(given)) & (given >= 1)):
        raise InputError(f"weights must be a vector of positive whole numbers, got {weights!r}")
    if not (np.isfinite(capacity) and capacity == round(capacity) and capacity >= 0):
        raise InputError(f"capacity must be a whole number, at least 0, got {capacity!r}")
    return given.astype(np.int64), int(capacity)
