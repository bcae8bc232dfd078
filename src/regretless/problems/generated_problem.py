"""What every problem with data from a formula shares: its settings, split, labels and the model to start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from torch import nn

from regretless.benchmark_problem import BenchmarkProblem
from regretless.problem import Problem
from regretless.problems.polynomial_costs import check_counts, random
from regretless.problems.seeded_models import seeded
from regretless.problems.solving import Solving

BATCH_SIZE = 32  # as in PyEPO's notebooks


@dataclass(frozen=True, kw_only=True)
class Settings(Solving):
    """Settings of all problems with data from a formula, beside those of the formula itself and of ``Solving``.

    Attributes:
        train, test: number of instances of these parts, at least 1.
        validation: number of instances to validate on; with 0 there is no such part.
        split_seed: ``None`` takes the rows in order: train, validation, test. A number shuffles them first, and the
            test rows are those of scikit-learn's ``train_test_split(..., random_state=split_seed)``.
        seed: of the data; by default that of PyEPO's notebooks.
    """

    train: int = 1000
    test: int = 1000
    validation: int = 0
    split_seed: int | None = None
    seed: int = 135

    def __post_init__(self) -> None:
        check_counts(train=self.train, test=self.test)
        check_counts(0, validation=self.validation)
        if self.split_seed is not None:
            random(self.split_seed)

    @property
    def instances(self) -> int:
        """Number of rows of all parts."""
        return self.train + self.validation + self.test

    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Rows of train, validation and test.

        >>> [part.tolist() for part in Settings(train=3, test=2, validation=1).rows()]
        [[0, 1, 2], [3], [4, 5]]
        """
        order = np.arange(self.instances)
        if self.split_seed is not None:
            shuffled = random(self.split_seed).permutation(self.instances)
            order = np.concatenate([shuffled[self.test :], shuffled[: self.test]])
        fit, validation, test = np.split(order, [self.train, self.train + self.validation])
        return fit, validation, test

    def load(
        self,
        name: str,
        problem: Problem,
        features: NDArray[np.floating],
        costs: NDArray[np.floating],
        model: Callable[[int], nn.Module] | None = None,
    ) -> BenchmarkProblem:
        """Label the data and split it.

        Args:
            name: as in the table of problems.
            problem: what to solve.
            features: ``(n, p)``, or ``(n, d, p)`` with a ``model`` for that.
            costs: ``(n, d)``.
            model: ``seed -> fresh model``; by default one linear layer on the raw features, the field's usual model.
        """
        problem.name = name
        train, validation, test = self.labelled(problem, features, costs, self.rows())
        model = model or partial(seeded, partial(nn.Linear, features.shape[1], costs.shape[1]))
        held_out = validation if len(validation) else None
        return BenchmarkProblem(name, problem, train, test, held_out, model, BATCH_SIZE)
