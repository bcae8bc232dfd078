"""What loading a problem by name gives: the problem, its data, and a model to start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from regretless.data import Dataset
from regretless.problem import Problem


@dataclass(frozen=True)
class BenchmarkProblem:
    """A problem ready to train on.

    Attributes:
        name: as in the table of problems.
        problem: the exact oracle, with its model.
        train: what training sees.
        test: what is not used in training.
        validation: for stopping and tuning; ``None`` where the split has none.
        model: ``seed -> fresh model`` that maps features to predicted costs.
        batch_size: instances per step, where neither the method nor the user sets another number.
        evaluated_on: what ``test`` really is: ``test``, or ``validation`` or ``train`` where nothing was held out.
        test_names: names of the instances in ``test``, where the data has them.
        kept: what a run's folder must keep to need no other file, for problems that have no name in the table.
        counts: of rows, for the figures of a run that goes on from another.
    """

    name: str
    problem: Problem
    train: Dataset
    test: Dataset
    validation: Dataset | None
    model: Callable[[int], nn.Module]
    batch_size: int
    evaluated_on: str = "test"
    test_names: tuple[str, ...] | None = None
    kept: dict[str, Any] | None = None
    counts: dict[str, int] = field(default_factory=dict)
