"""The 0-1 knapsack: take the slots of the greatest value within a capacity; its exact oracle and its lower bound."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from regretless.cuda_graphs import CapturedFunction
from regretless.errors import InputError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.knapsack.weight_counts import make_counts
from regretless.problems.settings import Solving
from regretless.types import Solved

BLOCK_VALUES = 4_000_000


class KnapsackBound:
    """Dantzig's bound: fill the knapsack by cost per weight, and take a fraction of the item that no longer fits.

    This is the best Lagrangian bound for one row, computed by a sort instead of a search for its multiplier.

    Args:
        weights: ``(n,)`` positive.
        capacity: at least 0.

    >>> KnapsackBound([3, 4, 5], 7)(torch.tensor([[-4.0, -5.0, -6.0]]), None).tolist()
    [-9.0]
    """

    def __init__(self, weights: ArrayLike, capacity: float) -> None:
        self._weights = np.asarray(weights, dtype=np.float64)
        self._capacity = float(capacity)

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Bounds ``(batch,)`` at minimization costs ``(batch, n)``."""
        # In numpy: at this size its sort takes a third of the time of torch, and the gap is needed on the CPU anyway.
        ratio = np.minimum(costs.detach().to("cpu", torch.float64).numpy() / self._weights, 0.0)
        order = ratio.argsort(axis=1)
        weight = self._weights[order]
        # The capacity left before each item decides how much of it is taken: nothing, a part, or all.
        taken = np.minimum(np.maximum(self._capacity - weight.cumsum(axis=1) + weight, 0.0), weight)
        order += np.arange(0, ratio.size, ratio.shape[1])[:, None]
        bounds = np.einsum("ij,ij->i", ratio.ravel()[order], taken)
        return torch.from_numpy(bounds).to(costs.device)


class KnapsackOracle:
    """Exact solver for integer weights, batched, on the device of the costs.

    With few distinct weights (the paper's data has three) it evaluates all counts per weight at once; see
    ``weight_counts``. Otherwise it runs a dynamic program over the capacity. All arithmetic is float64.

    Args:
        weights: ``(n,)`` positive integers.
        capacity: an integer, at least 0.
    """

    def __init__(self, weights: ArrayLike, capacity: float) -> None:
        self.weights, given = _integers(weights, capacity)
        self.capacity = min(given, int(self.weights.sum()))  # a larger capacity only makes the program longer
        self.counts = make_counts(self.weights, self.capacity)
        values = len(self.weights) * (self.capacity + 1) if self.counts is None else self.counts.size
        self._block = max(1, BLOCK_VALUES // values)
        self._captured = CapturedFunction(self._solve_costs)

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, n)`` minimization costs; see ``regretless.types.Backend``."""
        if costs.is_cuda and self.counts is not None:
            return Solved(self._captured(costs), finite=True)
        return Solved(self._solve_costs(costs), finite=True)

    def _solve_costs(self, costs: Tensor) -> Tensor:
        if costs.shape[0] > self._block:
            return torch.cat([self._solve_costs(part) for part in torch.split(costs, self._block)])
        return self._dynamic_program(-costs.to(torch.float64)) if self.counts is None else self.counts.solve(costs)

    def _dynamic_program(self, value: Tensor) -> Tensor:
        """Dynamic program over the capacity: ``best[b]`` after each item, and whether the item was taken at b."""
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


def knapsack_problem(weights: ArrayLike, capacity: float, **solving: Any) -> Problem:
    """Return the knapsack as a maximization problem.

    Args:
        weights: ``(n,)`` positive integers.
        capacity: an integer.
        solving: see ``Solving``.
    """
    oracle, bound = partial(KnapsackOracle, weights, capacity), KnapsackBound(weights, capacity)
    milp, name = knapsack_milp(weights, capacity), f"knapsack-{capacity:g}"
    return Solving(**solving).problem(milp, "max", oracle, bound=bound, name=name)


def _integers(weights: ArrayLike, capacity: float) -> tuple[NDArray[np.int64], int]:
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim != 1 or not len(given) or not np.all((given == np.round(given)) & (given >= 1)):
        raise InputError(f"weights must be a vector of positive integers, got {weights!r}")
    if not (np.isfinite(capacity) and capacity == round(capacity) and capacity >= 0):
        raise InputError(f"capacity must be an integer, at least 0, got {capacity!r}")
    return given.astype(np.int64), int(capacity)
