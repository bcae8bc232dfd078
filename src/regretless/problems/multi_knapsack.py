"""The knapsack with several rows, where few items fit at a time: all selections are compared at once."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import MILP, Floats
from regretless.number_checks import check_number
from regretless.problems.feasible_sets import SetsOfSize, feasible_sets
from regretless.problems.polynomial_costs import Costs, Formula, check_counts, polynomial_costs
from regretless.problems.settings import Settings
from regretless.types import Solved

MOST_SETS = 1_000_000
BLOCK_VALUES = 8_000_000


class MultiKnapsackOracle:
    """Exact solver by enumeration, batched, on the device of the costs.

    A selection to which no further item can be added is never worse than its parts, so only those are compared: one
    matrix product gives the values of all of them. An item whose value is negative counts as zero there, and is left
    out of the answer.

    Args:
        weights: ``(rows, items)`` positive.
        capacities: ``(rows,)``.
    """

    def __init__(self, weights: Floats, capacities: Floats) -> None:
        maximal = _maximal(feasible_sets(weights, capacities, most=MOST_SETS), weights.shape[1])
        self._selections = torch.from_numpy(maximal).to(torch.float64)  # (selections, items)

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, items)`` costs to minimize; see ``regretless.types.Backend``."""
        value = (-costs.to(torch.float64)).clamp(min=0.0)
        selections = self._selections.to(value.device)
        parts = torch.split(value, max(1, BLOCK_VALUES // len(selections)))
        best = torch.cat([(part @ selections.T).argmax(dim=1) for part in parts])
        return Solved(selections[best] * (value > 0.0))


def _maximal(layers: list[SetsOfSize], items: int) -> Floats:
    """Incidence ``(selections, items)`` of the sets that are part of no other; the empty one where nothing fits."""
    maximal = [part.bits for part in layers[-1:]] or [np.zeros(1, dtype=np.int64)]
    for part, larger in pairwise(layers):
        inside = larger.bits[:, None] & ~(1 << larger.members)
        maximal.append(np.setdiff1d(part.bits, inside))
    return ((np.concatenate(maximal)[:, None] >> np.arange(items)) & 1).astype(np.float64)


def multi_knapsack_data(formula: Formula, items: int, rows: int) -> tuple[Floats, Floats, Costs]:
    """Weights ``(rows, items)`` from 3.00, 3.01 ... 7.99, features ``(n, p)``, and values ``(n, items)``.

    A value is 5 times the cost of ``polynomial_costs``, rounded up.
    """
    check_counts(items=items, rows=rows)
    rng = formula.random()
    weights = rng.choice(range(300, 800), size=(rows, items)) / 100
    x, c = polynomial_costs(rng, formula, items, factor=5)
    return weights, x, np.ceil(c).astype(np.float32)


def load_multi_knapsack(
    name: str,
    *,
    items: int = 32,
    rows: int = 2,
    capacity: float = 20.0,
    features: int = 5,
    deg: int = 4,
    noise: float = 0.5,
    **settings: Any,
) -> BenchmarkProblem:
    """Load ``multi-knapsack``: the most valuable items within several capacities.

    Args:
        name: ``multi-knapsack``.
        items: number of items.
        rows: number of capacities.
        capacity: of every row. The oracle lists all selections, up to a million of them; engines have no such limit.
        features, deg, noise: of the formula; see ``polynomial_costs``.
        settings: see ``Settings``.
    """
    check_number("capacity", capacity, least=0)
    given = Settings(**settings)
    weights, x, c = multi_knapsack_data(Formula(given.instances, features, deg, noise, given.seed), items, rows)
    oracle = partial(MultiKnapsackOracle, weights, np.full(rows, float(capacity)))
    return given.load(name, given.problem(MILP(weights, row_upper=float(capacity)), "max", oracle), x, c)
