from __future__ import annotations

import pickle

import pytest
import torch

from regretless.errors import InputError
from regretless.solvers.ledger import PurposeCount, SolveStatistics, counted_as
from regretless.types import Solved, Status

MIXED = Solved(torch.tensor([[1.0], [torch.nan], [2.0]]), [Status.OPTIMAL, Status.ERROR, Status.FEASIBLE])


def test_parts_add_up_and_failures_are_counted() -> None:
    statistics = SolveStatistics()
    statistics.add(Solved(torch.zeros(2, 1)), 0.5)
    with counted_as("labels"):
        statistics.add(MIXED, 0.25)
    assert (statistics.solves, statistics.seconds, statistics.not_optimal, statistics.failed) == (5, 0.75, 2, 1)
    assert statistics.by_status == {"error": 1, "feasible": 1}
    assert statistics.by_purpose == {"growth": PurposeCount(2, 0.5), "labels": PurposeCount(3, 0.25)}
    assert pickle.loads(pickle.dumps(statistics)) == statistics


def test_the_innermost_purpose_counts_unless_it_gives_way() -> None:
    statistics = SolveStatistics()
    with counted_as("scoring"):
        with counted_as("evaluation", unless_set=True):
            statistics.add(MIXED, 0.0)
        with counted_as("watching"):
            statistics.add(MIXED, 0.0)
    with counted_as("evaluation", unless_set=True):
        statistics.add(MIXED, 0.0)
    assert {name: part.solves for name, part in statistics.by_purpose.items()} == {
        "scoring": 3,
        "watching": 3,
        "evaluation": 3,
    }


def test_an_exception_ends_the_purpose() -> None:
    statistics = SolveStatistics()
    with pytest.raises(ZeroDivisionError), counted_as("labels"):
        _ = 1 / 0
    statistics.add(MIXED, 0.0)
    assert list(statistics.by_purpose) == ["growth"]


def test_an_unknown_purpose_is_refused() -> None:
    with pytest.raises(InputError, match="purpose must be one of labels"), counted_as("fun"):  # type: ignore[arg-type]
        pass
