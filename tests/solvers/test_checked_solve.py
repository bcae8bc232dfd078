from __future__ import annotations

from typing import Any

import pytest
import torch

from regretless.errors import InputError, SolveError
from regretless.problem import Problem
from regretless.solvers.checked_solve import all_finite, refuse_better_than_label, value_scale
from regretless.types import Solved, Status


class Oracle:
    """Answers a cost with itself, unless its first entry asks for a fault."""

    def __init__(self) -> None:
        self.calls = 0

    def solve(self, costs, instance=None, *, decision=False):
        self.calls += 1
        first = costs[:, 0]
        if (first == 13).any():
            raise RuntimeError("thirteen")
        if (first == 14).any():
            raise InputError("an option that is unknown")
        if (first == 15).any():
            return Solved(costs[:, :1])
        return Solved(torch.where(first[:, None] == 16, torch.nan, costs), decision=costs if decision else None)


def _attempt(*first: float, decision: bool = False, **settings):
    problem = Problem(oracle=Oracle(), dimension=2, **settings)
    return problem, problem.attempt(torch.tensor([[f, 1.0] for f in first]), decision=decision)


def test_a_good_answer_is_handed_on_as_it_is() -> None:
    problem, solved = _attempt(1.0, 2.0)
    assert solved.status is None
    assert problem.backend.calls == 1
    assert problem.statistics.failed == 0


def test_an_exception_costs_only_the_instance_that_causes_it() -> None:
    problem, solved = _attempt(1.0, 13.0, 2.0, decision=True)
    assert solved.statuses == [Status.OPTIMAL, Status.ERROR, Status.OPTIMAL]
    assert solved.message == {1: "RuntimeError: thirteen"}
    assert solved.solution[[0, 2]].tolist() == [[1.0, 1.0], [2.0, 1.0]]
    assert solved.decision[[0, 2]].tolist() == [[1.0, 1.0], [2.0, 1.0]]
    assert solved.gap.tolist() == [0.0, torch.inf, 0.0]
    assert (problem.statistics.not_optimal, problem.statistics.failed) == (1, 1)


def test_the_message_of_a_failure_is_quoted_whatever_characters_it_has() -> None:
    def fails(costs: torch.Tensor) -> torch.Tensor:
        raise KeyError("no price for {'plant': 3} in {}")

    with pytest.raises(SolveError, match=r"instance 0 of the batch: error .*no price for \{'plant': 3\} in \{\}"):
        Problem(oracle=fails, dimension=2)(torch.ones(2, 2))


def test_nan_is_no_optimum_whatever_the_oracle_says() -> None:
    problem, solved = _attempt(1.0, 16.0)
    assert solved.statuses == [Status.OPTIMAL, Status.ERROR]
    assert solved.found.tolist() == [True, False]
    assert "Oracle returned NaN" in solved.message[1]
    with pytest.raises(SolveError, match=r"instance 1 of the batch: error\. Oracle returned NaN"):
        problem(torch.tensor([[1.0, 1.0], [16.0, 1.0]]))


def test_a_wrong_shape_is_refused() -> None:
    with pytest.raises(SolveError, match=r"Oracle must answer 2 costs with solutions of shape \(2, 2\), got \(2, 1\)"):
        _attempt(15.0, 1.0)


def test_what_no_instance_can_be_solved_with_is_raised() -> None:
    with pytest.raises(InputError, match="an option that is unknown"):
        _attempt(14.0, 1.0)


@pytest.mark.parametrize("setting", [{"time_limit": 1.0}, {"workers": 2}, {"executor": "processes"}])
def test_an_oracle_keeps_its_own_time_limit_and_workers(setting: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="Oracle solves batches by itself: set its own time limit and workers"):
        _attempt(1.0, **setting)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_an_answer_may_beat_a_label_by_rounding_and_by_no_more(dtype: torch.dtype) -> None:
    costs = torch.tensor([[3.0, -4.0], [1.0, 2.0]], dtype=dtype)
    label = torch.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=dtype)
    scale = value_scale(costs, label, label)
    assert scale.tolist() == [14.0, 6.0]
    values = (costs * label).sum(dim=1)
    for size, refused in ((0.3, False), (30.0, True)):
        step = size * max(1e-6, 64 * torch.finfo(dtype).eps) * torch.tensor([0.0, 1.0], dtype=dtype) * scale
        if not refused:
            refuse_better_than_label(values - step, values, scale)
            continue
        with pytest.raises(SolveError, match=r"instance 5 of the batch \(family member 8\) has a solution") as caught:
            refuse_better_than_label(values - step, values, scale, rows=[4, 5], instance=torch.tensor([7, 8]))
        assert caught.value.row == 5
    refuse_better_than_label(values - 100, values, scale, optimal=torch.tensor([False, False]))
    refuse_better_than_label(values * torch.nan, values, scale)


def test_the_scale_of_a_value_is_the_sum_of_its_terms_with_decisions_of_at_least_one() -> None:
    costs = torch.tensor([[2.0, -3.0, 5.0]])
    assert value_scale(costs, torch.tensor([[0.0, 10.0, -100.0]])).tolist() == [2.0 + 30.0 + 500.0]
    assert value_scale(costs, torch.tensor([[0.0, 0.5, -0.5]]), torch.ones(1, 3)).tolist() == [20.0]


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_an_optimum_with_one_value_that_is_not_finite_is_none(bad: float) -> None:
    class Partly:
        def solve(self, costs: Any, instance: Any = None, *, decision: bool = False) -> Solved:
            return Solved(torch.tensor([[1.0, 0.0], [1.0, bad], [0.0, 1.0]]), gap=torch.tensor([0.0, 0.1, 0.2]))

    solved = Problem(oracle=Partly(), dimension=2).attempt(torch.ones(3, 2))
    assert solved.statuses == [Status.OPTIMAL, Status.ERROR, Status.OPTIMAL]
    assert torch.isnan(solved.solution).tolist() == [[False] * 2, [True] * 2, [False] * 2]
    assert solved.gap is not None
    assert solved.gap.tolist() == pytest.approx([0.0, torch.inf, 0.2])


def test_an_answer_that_is_no_solved_is_named() -> None:
    class Own:
        def solve(self, costs, instance=None, *, decision=False):
            return costs

    with pytest.raises(SolveError, match=r"Own.solve must return a Solved, got Tensor"):
        Problem(oracle=Own(), dimension=2).attempt(torch.ones(1, 2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_one_value_that_is_not_finite_is_found_among_any(dtype: torch.dtype, bad: float) -> None:
    largest = torch.finfo(dtype).max
    for values in (torch.full((2, 3), largest, dtype=dtype), torch.zeros(2, 3, dtype=dtype)):
        assert all_finite(values)  # though the sum of the largest ones is infinite
        assert all_finite(values.T.requires_grad_())
        values[1, 1] = bad
        assert not all_finite(values)
        assert not all_finite(values.T)
    assert all_finite(torch.empty(0, 3, dtype=dtype))
