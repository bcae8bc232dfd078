from __future__ import annotations

import torch

from regretless.linear_programs.program_answers import none_of, unsolved
from regretless.types import Status


def test_without_a_solution_every_row_is_nan():
    answers = none_of(torch.zeros(2, 3), Status.INFEASIBLE)
    assert bool(torch.isnan(answers.x).all())
    assert answers.status == [Status.INFEASIBLE] * 2
    assert answers.message == {}


def test_open_programs_are_errors_or_late():
    status = [Status.OPTIMAL, Status.ERROR, Status.UNBOUNDED]
    early = unsolved(torch.zeros(3, 1), list(status), 1e-7, late=False)
    assert early.status == status
    assert early.message == {1: "the linear program did not converge to 1e-07"}
    assert torch.isnan(early.x[:, 0]).tolist() == [False, True, True]
    late = unsolved(torch.zeros(3, 1), list(status), 1e-7, late=True)
    assert late.status == [Status.OPTIMAL, Status.TIME_LIMIT, Status.UNBOUNDED]
    assert late.message == {}
