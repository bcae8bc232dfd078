"""Knapsack problems by name, on the Irish market's data or on the embedded synthetic prices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.benchmark_problem import BenchmarkProblem
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.problem import Problem
from regretless.problems import semo
from regretless.problems.knapsack import synthetic
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.seeded_models import shared_linear

BATCH_SIZE = 24
Days = NDArray[np.int64]


def load_knapsack(
    name: str,
    *,
    split: str = "paper",
    engine: str = "oracle",
    workers: int = 1,
    seed: int = 0,
    time_limit: float | None = None,
    store: str | None = None,
) -> BenchmarkProblem:
    """Load ``knapsack-60|120|180``: the paper's data and, by default, its split.

    Args:
        name: with the capacity at its end.
        split: ``paper``, ``chronological`` or ``random`` (by ``seed``).
        engine: ``oracle``, or an engine for the model.
        workers: threads, for engines.
        seed: of the random split.
        time_limit: seconds for one solve, for engines.
        store: folder that keeps true optima.
    """
    features, values, weights = semo.knapsack_data()
    problem = knapsack_problem(weights, _capacity(name), engine=engine, workers=workers, time_limit=time_limit)
    problem.name = name
    return _loaded(name, problem, semo.standardise(features), values, semo.split_days(split, seed=seed), store)


def load_synthetic_knapsack(
    name: str,
    *,
    split: str = "chronological",
    engine: str = "oracle",
    workers: int = 1,
    seed: int = 0,
    time_limit: float | None = None,
    store: str | None = None,
    days: int = 789,
) -> BenchmarkProblem:
    """Load ``synthetic-knapsack-60|120|180``: embedded prices, no download.

    Args:
        name: with the capacity at its end.
        split: only ``chronological``: 70 % to train on, 7.5 % to validate, the rest to test.
        engine: ``oracle``, or an engine for the model.
        workers: threads, for engines.
        seed: accepted as everywhere; the embedded prices are one fixed series.
        time_limit: seconds for one solve, for engines.
        store: folder that keeps true optima.
        days: how many days to make.
    """
    if split != "chronological":
        raise InputError(f"{name} has the split 'chronological' only, got {split!r}")
    if days < 20:
        raise InputError(f"days must be at least 20 to be split, got {days}")
    features, values, weights = synthetic.knapsack_data(days)
    a, b = round(0.7 * days), round(0.775 * days)
    problem = knapsack_problem(weights, _capacity(name), engine=engine, workers=workers, time_limit=time_limit)
    problem.name = name
    order = np.arange(days)
    scaled = synthetic.standardised(features, a)
    return _loaded(name, problem, scaled, values, (order[:a], order[a:b], order[b:]), store)


def _capacity(name: str) -> int:
    tail = name.rpartition("-")[2]
    if not tail.isdigit():
        raise InputError(f"a knapsack's name ends with its capacity, as in knapsack-120, got {name!r}")
    return int(tail)


def _loaded(
    name: str,
    problem: Problem,
    features: NDArray[np.float64],
    values: NDArray[np.float64],
    split: tuple[Days, Days | None, Days],
    store: str | None,
) -> BenchmarkProblem:
    data = Dataset.solve(problem, features, values, store=store)
    train, validation, test = split
    return BenchmarkProblem(
        name=name,
        problem=problem,
        train=data[train],
        test=data[test],
        validation=None if validation is None else data[validation],
        model=shared_linear(features.shape[-1]),
        batch_size=BATCH_SIZE,
    )
