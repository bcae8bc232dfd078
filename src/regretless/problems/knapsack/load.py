"""Load knapsack problems by name, on the data of the Irish market or on the embedded synthetic prices."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.milp import Floats
from regretless.problem import Problem
from regretless.problems import irish_market
from regretless.problems.irish_market import Days
from regretless.problems.knapsack import synthetic
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.labelled_parts import labelled_parts
from regretless.problems.seeded_models import shared_linear
from regretless.types import OnFailure

BATCH_SIZE = 24


def load_knapsack(
    name: str,
    *,
    split: str = "paper",
    engine: str = "oracle",
    workers: int = 1,
    executor: str = "threads",
    seed: int = 0,
    time_limit: float | None = None,
    on_failure: OnFailure = "raise",
    store: str | None = None,
) -> BenchmarkProblem:
    """Load ``knapsack-60|120|180``, on the data of the paper; see ``regretless.problems.load``.

    Args:
        name: ends with the capacity.
        split: ``paper``, ``chronological`` or ``random`` (with ``seed``).
        engine, workers, executor, seed, time_limit, on_failure, store: as for every problem.
    """
    features, values, weights = irish_market.knapsack_data()
    how: dict[str, Any] = {"workers": workers, "executor": executor, "time_limit": time_limit}
    problem = knapsack_problem(weights, _capacity(name), engine=engine, **how)
    days = irish_market.split_days(split, seed=seed)
    return _loaded(name, problem, irish_market.standardize(features), values, days, on_failure, store)


def load_synthetic_knapsack(
    name: str,
    *,
    split: str = "chronological",
    engine: str = "oracle",
    workers: int = 1,
    executor: str = "threads",
    seed: int = 0,
    time_limit: float | None = None,
    on_failure: OnFailure = "raise",
    store: str | None = None,
    days: int = 789,
) -> BenchmarkProblem:
    """Load ``synthetic-knapsack-60|120|180``, on embedded prices without a download; see ``regretless.problems.load``.

    Args:
        name: ends with the capacity.
        split: only ``chronological``: 70 % for training, 7.5 % for validation, the rest for testing.
        engine, workers, executor, seed, time_limit, on_failure, store: as for every problem; the embedded prices do
            not depend on the seed.
        days: number of days.
    """
    if split != "chronological":
        raise InputError(f"{name} has the split 'chronological' only, got {split!r}")
    if days < 20:
        raise InputError(f"days must be at least 20 to be split, got {days}")
    features, values, weights = synthetic.knapsack_data(days)
    how: dict[str, Any] = {"workers": workers, "executor": executor, "time_limit": time_limit}
    problem = knapsack_problem(weights, _capacity(name), engine=engine, **how)
    order, a, b = np.arange(days), round(0.7 * days), round(0.775 * days)
    scaled = synthetic.standardized(features, a)
    return _loaded(name, problem, scaled, values, (order[:a], order[a:b], order[b:]), on_failure, store)


def _capacity(name: str) -> int:
    tail = name.rpartition("-")[2]
    if not tail.isdigit():
        raise InputError(f"the name of a knapsack ends with its capacity, as in knapsack-120, got {name!r}")
    return int(tail)


def _loaded(
    name: str,
    problem: Problem,
    features: Floats,
    values: Floats,
    split: tuple[Days, Days, Days],
    on_failure: OnFailure,
    store: str | None,
) -> BenchmarkProblem:
    problem.name = name
    train, validation, test = labelled_parts(problem, features, values, split, on_failure=on_failure, store=store)
    return BenchmarkProblem(name, problem, train, test, validation, shared_linear(features.shape[-1]), BATCH_SIZE)
