"""The best k of some items, by a sort, with values from a formula."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.problems.polynomial_costs import Costs, check_counts, random
from regretless.problems.settings import Settings, shared_linear
from regretless.types import Solved


class TopKOracle:
    """Exact choice of ``k`` items, batched, on the device of the costs."""

    def __init__(self, k: int) -> None:
        self.k = k

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, items)`` costs to minimize; see ``regretless.types.Backend``."""
        best = costs.argsort(dim=1, stable=True)[:, : self.k]  # of equal items the first
        solution = torch.zeros(costs.shape, dtype=torch.float64, device=costs.device)
        return Solved(solution.scatter_(1, best, 1.0), finite=True)


def top_k_data(instances: int, *, items: int, seed: int) -> tuple[Floats, Costs]:
    """Features ``(n, items, 1)`` from U(-1, 1) and values ``10 (x^3 - 0.65 x)``, ``(n, items)``."""
    check_counts(instances=instances, items=items)
    x = random(seed).uniform(-1, 1, (instances, items))
    return x[:, :, None], (10 * (x**3 - 0.65 * x)).astype(np.float32)


def load_top_k(name: str, *, items: int = 50, k: int = 2, **settings: Any) -> BenchmarkProblem:
    """Load ``top-k``: choose the k items of most value, whose value is a cubic of one feature (Shah et al., 2022).

    The model is one linear function shared by all items: it cannot fit the cubic, so what it fits best decides.

    Args:
        name: ``top-k``.
        items: number of items per instance.
        k: how many are chosen.
        settings: see ``Settings``.
    """
    check_counts(k=k)
    if k > items:
        raise InputError(f"k must be at most the number of items, {items}, got {k}")
    given = Settings(**settings)
    x, c = top_k_data(given.instances, items=items, seed=given.seed)
    model = MILP(np.ones((1, items)), row_lower=float(k), row_upper=float(k))
    return given.load(name, given.problem(model, "max", partial(TopKOracle, k)), x, c, shared_linear(1))
