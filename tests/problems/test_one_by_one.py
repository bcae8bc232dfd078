from __future__ import annotations

import numpy as np
import torch

from regretless.problems.one_by_one import one_by_one
from regretless.solvers.engine import Outcome
from regretless.solvers.highs import ProgramError
from regretless.types import Status


def test_costs_reach_the_function_scaled_by_a_power_of_two_to_at_most_a_million():
    seen = []

    def solve(costs):
        seen.append(costs)
        return Outcome(np.ones(2), Status.OPTIMAL)

    solved = one_by_one(solve, torch.tensor([[2.0**31, -(2.0**32)], [0.0, 0.0], [0.75, 0.25]]))
    assert [row.tolist() for row in seen] == [[2.0**18, -(2.0**19)], [0.0, 0.0], [0.75 * 2**20, 2.0**18]]
    assert solved.status is None
    assert solved.solution.dtype is torch.float64


def test_every_instance_keeps_its_own_status_gap_and_message():
    outcomes = iter(
        [
            Outcome(np.ones(1), Status.OPTIMAL),
            Outcome(np.zeros(1), Status.TIME_LIMIT, 0.5, "late"),
            Outcome(None, Status.INFEASIBLE, np.inf, "none"),
        ]
    )
    solved = one_by_one(lambda costs: next(outcomes), torch.ones(3, 1))
    assert solved.statuses == [Status.OPTIMAL, Status.TIME_LIMIT, Status.INFEASIBLE]
    assert solved.gap.tolist() == [0.0, 0.5, float("inf")]
    assert solved.found.tolist() == [True, True, False]
    assert solved.message == {1: "late", 2: "none"}


def test_a_program_that_fails_is_an_error_of_its_instance_and_of_no_other():
    def solve(costs):
        if costs[0] < 0:
            raise ProgramError("HiGHS ended a linear program with 'Unknown'")
        return Outcome(np.ones(1), Status.OPTIMAL)

    solved = one_by_one(solve, torch.tensor([[1.0], [-1.0]]))
    assert solved.statuses == [Status.OPTIMAL, Status.ERROR]
    assert solved.gap.tolist() == [0.0, float("inf")]
    assert solved.message == {1: "HiGHS ended a linear program with 'Unknown'"}
