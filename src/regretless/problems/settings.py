"""What named problems share: the options of solving and labeling, those of data from a formula, and initial models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from regretless.benchmark_problem import BenchmarkProblem
from regretless.data import Dataset
from regretless.errors import InputError, SolveError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.polynomial_costs import check_counts, random
from regretless.training.models import SharedLinear
from regretless.training.random_draws import seeded_weights
from regretless.types import Backend, OnFailure, Sense

Rows = Sequence[int] | NDArray[np.integer]
BATCH_SIZE = 32  # as in PyEPO's notebooks


def seeded(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Build a model with weights drawn from ``seed``; the global generator does not change."""
    with seeded_weights(seed):
        return make()


def shared_linear(features: int) -> Callable[[int], nn.Module]:
    """Return ``seed -> SharedLinear``."""
    return partial(seeded, partial(SharedLinear, features))


@dataclass(frozen=True, kw_only=True)
class Solving:
    """Options of all named problems.

    Attributes:
        engine: ``oracle`` for the problem's own exact solver, or the name of an engine that solves its model.
        workers: solves of an engine at the same time.
        executor: who runs them: ``threads``, ``processes`` or ``ray[:ADDRESS]``.
        time_limit: seconds for one solve by an engine, or by an oracle that can be slow.
        gap: relative distance to the optimum at which a solve by an engine may end.
        on_failure: with ``cache`` or ``skip`` instances without an optimum are left out, with a warning.
        store: folder that keeps true optima by content.
    """

    engine: str = "oracle"
    workers: int | None = 1
    executor: str = "threads"
    time_limit: float | None = None
    gap: float = 0.0
    on_failure: OnFailure = "raise"
    store: Path | str | None = None

    def problem(
        self, model: MILP | Family, sense: Sense, oracle: Callable[[], Backend] | None = None, **about: Any
    ) -> Problem:
        """The model with an engine, or with the special oracle that ``oracle`` builds, which must agree with it.

        Args:
            model: a MILP or a family of them.
            sense: of the objective.
            oracle: builds the special oracle; ``None`` where the problem has none.
            about: further arguments of ``Problem``, such as ``bound``.

        Raises:
            InputError: a gap for the special oracle, which has none.
        """
        if self.engine == "oracle" and oracle is not None:
            if self.gap:
                raise InputError("gap= is for engines, and the problem's own solver has none: add engine='highs'")
            return Problem(model, oracle=oracle(), sense=sense, **about)
        engine = "highs" if self.engine == "oracle" else self.engine
        how: dict[str, Any] = {"workers": self.workers, "executor": self.executor, "time_limit": self.time_limit}
        how |= {"gap": self.gap} if self.gap else {}
        return Problem(model, sense=sense, engine=engine, **how, **about)

    def labelled(
        self, problem: Problem, features: Any, costs: Any, parts: Sequence[Rows], instance: Any = None
    ) -> list[Dataset]:
        """Solve the true optima of all rows at once, and select the rows of each part.

        Rows without a solution are left out of their part, where ``on_failure`` allows it.

        Args:
            problem: what to solve; ``on_failure`` is also for its training.
            features, costs, instance: as for ``Dataset.solve``.
            parts: rows of each part; a part may be empty.

        Raises:
            SolveError: a row has no solution and ``on_failure`` is ``"raise"``, or no row of a part has one.
        """
        problem.on_failure = self.on_failure
        numbers = [str(row) for row in range(len(costs))]
        data = Dataset.solve(problem, features, costs, instance=instance, store=self.store, names=numbers)
        place = {int(name): k for k, name in enumerate(data.names or ())}
        data, found = replace(data, names=None), []
        for rows in parts:
            found.append(data[[place[int(row)] for row in rows if int(row) in place]])
            if len(rows) and not len(found[-1]):
                raise SolveError(
                    f"{problem.name} has no solution for any of the {len(rows)} instances of a part of its data"
                )
        return found


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
