"""What every problem with data from a formula shares: sizes, split, labels and the model to start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import nn

from regretless.benchmark_problem import BenchmarkProblem
from regretless.data import Dataset
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.polynomial_costs import check_counts, random
from regretless.problems.seeded_models import seeded
from regretless.types import Backend, Sense

BATCH_SIZE = 32  # as in PyEPO's notebooks


@dataclass(frozen=True)
class Sizes:
    """How many instances each part of the data has, and which rows it takes.

    Attributes:
        train, test: at least 1.
        validation: may be 0: then there is no validation data.
        split_seed: ``None`` takes the rows in order: train, validation, test. A number shuffles them first, and the
            test rows are those of scikit-learn's ``train_test_split(..., random_state=split_seed)``.
    """

    train: int
    test: int
    validation: int = 0
    split_seed: int | None = None

    def __post_init__(self) -> None:
        check_counts(train=self.train, test=self.test)
        check_counts(0, validation=self.validation)
        if self.split_seed is not None:
            random(self.split_seed)

    @property
    def total(self) -> int:
        """Number of rows of all parts."""
        return self.train + self.validation + self.test

    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Rows of train, validation and test.

        >>> [part.tolist() for part in Sizes(train=3, test=2, validation=1).rows()]
        [[0, 1, 2], [3], [4, 5]]
        """
        order = np.arange(self.total)
        if self.split_seed is not None:
            shuffled = random(self.split_seed).permutation(self.total)
            order = np.concatenate([shuffled[self.test :], shuffled[: self.test]])
        fit, validation, test = np.split(order, [self.train, self.train + self.validation])
        return fit, validation, test


def linear_model(features: int, costs: int) -> Callable[[int], nn.Module]:
    """Return ``seed -> nn.Linear`` on the raw features, the field's usual model."""
    return partial(seeded, partial(nn.Linear, features, costs))


def exact_problem(
    model: MILP,
    oracle: Callable[[], Backend],
    *,
    sense: Sense,
    engine: str,
    workers: int,
    time_limit: float | None,
) -> Problem:
    """Return the model with its special oracle (``engine="oracle"``) or with a general engine.

    Args:
        model: of the problem.
        oracle: builds the special oracle, which must agree with the model.
        sense: of the objective.
        engine: ``"oracle"``, or the name of an engine.
        workers, time_limit: of an engine.
    """
    if engine == "oracle":
        return Problem(model, oracle=oracle(), sense=sense)
    return Problem(model, sense=sense, engine=engine, workers=workers, time_limit=time_limit)


def generated_problem(
    name: str,
    problem: Problem,
    features: NDArray[np.floating],
    costs: NDArray[np.floating],
    sizes: Sizes,
    *,
    store: Path | str | None,
    model: Callable[[int], nn.Module] | None = None,
) -> BenchmarkProblem:
    """Label the data and split it.

    Args:
        name: as in the table of problems.
        problem: what to solve.
        features: ``(n, p)``, or ``(n, d, p)`` with a ``model`` for that.
        costs: ``(n, d)``.
        sizes: of the parts.
        store: folder that keeps true optima by content.
        model: ``seed -> fresh model``; ``linear_model`` by default.
    """
    problem.name = name
    data = Dataset.solve(problem, features, costs, store=store)
    train, validation, test = sizes.rows()
    return BenchmarkProblem(
        name=name,
        problem=problem,
        train=data[train],
        test=data[test],
        validation=data[validation] if len(validation) else None,
        model=model or linear_model(features.shape[1], costs.shape[1]),
        batch_size=BATCH_SIZE,
    )
