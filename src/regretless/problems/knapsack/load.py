"""Load knapsack problems by name, on the data of the Irish market or on the embedded synthetic prices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.milp import Floats
from regretless.problems import irish_market
from regretless.problems.irish_market import Days
from regretless.problems.knapsack import synthetic
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.settings import Solving, shared_linear

BATCH_SIZE = 24


def load_knapsack(name: str, *, split: str = "paper", seed: int = 0, **solving: Any) -> BenchmarkProblem:
    """Load ``knapsack-60|120|180``, on the data of the paper; see ``regretless.problems.load``.

    Args:
        name: ends with the capacity.
        split: ``paper``, ``chronological`` or ``random`` (with ``seed``).
        seed: of a random split.
        solving: see ``Solving``.
    """
    features, values, weights = irish_market.knapsack_data()
    days = irish_market.split_days(split, seed=seed)
    return _loaded(name, weights, irish_market.standardize(features), values, days, solving)


def load_synthetic_knapsack(
    name: str, *, split: str = "chronological", seed: int = 0, days: int = 789, **solving: Any
) -> BenchmarkProblem:
    """Load ``synthetic-knapsack-60|120|180``, on embedded prices without a download; see ``regretless.problems.load``.

    Args:
        name: ends with the capacity.
        split: only ``chronological``: 70 % for training, 7.5 % for validation, the rest for testing.
        seed: as for every problem; the embedded prices do not depend on it.
        days: number of days.
        solving: see ``Solving``.
    """
    if split != "chronological":
        raise InputError(f"{name} has the split 'chronological' only, got {split!r}")
    if days < 20:
        raise InputError(f"days must be at least 20 to be split, got {days}")
    features, values, weights = synthetic.knapsack_data(days)
    order, a, b = np.arange(days), round(0.7 * days), round(0.775 * days)
    scaled = synthetic.standardized(features, a)
    return _loaded(name, weights, scaled, values, (order[:a], order[a:b], order[b:]), solving)


def _capacity(name: str) -> int:
    tail = name.rpartition("-")[2]
    if not tail.isdigit():
        raise InputError(f"the name of a knapsack ends with its capacity, as in knapsack-120, got {name!r}")
    return int(tail)


def _loaded(
    name: str,
    weights: ArrayLike,
    features: Floats,
    values: Floats,
    split: tuple[Days, Days, Days],
    solving: dict[str, Any],
) -> BenchmarkProblem:
    problem = knapsack_problem(weights, _capacity(name), **solving)
    problem.name = name
    train, validation, test = Solving(**solving).labelled(problem, features, values, split)
    return BenchmarkProblem(name, problem, train, test, validation, shared_linear(features.shape[-1]), BATCH_SIZE)
