from __future__ import annotations

import pytest
import torch

from regretless.types import Solved, Status


def test_no_statuses_mean_that_all_are_optimal() -> None:
    solved = Solved(torch.zeros(3, 2))
    assert solved.found.tolist() == [True, True, True]
    assert solved.statuses == [Status.OPTIMAL] * 3
    assert solved.not_optimal == 0


def test_found_is_where_there_is_a_solution_whatever_the_status() -> None:
    nan = float("nan")
    solved = Solved(
        torch.tensor([[1.0, 0.0], [nan, nan], [0.0, 1.0], [nan, nan]]),
        [Status.OPTIMAL, Status.TIME_LIMIT, Status.TIME_LIMIT, Status.INFEASIBLE],
    )
    assert solved.found.tolist() == [True, False, True, False]
    assert solved.not_optimal == 3
    assert solved.statuses == list(solved.status or [])


def test_an_empty_batch_is_all_found() -> None:
    assert Solved(torch.zeros(0, 2)).found.shape == (0,)
    assert Solved(torch.zeros(0, 2), []).not_optimal == 0


@pytest.mark.parametrize("status", list(Status))
def test_a_status_is_the_word_that_files_store(status: Status) -> None:
    assert Status(str(status)) is status
    assert str(status) == status.value
