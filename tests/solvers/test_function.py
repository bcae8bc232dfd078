from __future__ import annotations

import pickle
import re
import threading
from typing import Any

import numpy as np
import pytest
import torch

from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.solvers.function import FunctionBackend
from regretless.types import Status

KNAPSACK = MILP([[1.0, 1.0, 1.0]], row_upper=1.0)


def cheapest(costs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return costs == costs.min()


def test_answers_come_back_in_order_as_float64() -> None:
    solved = FunctionBackend(cheapest, width=3, sign=1.0).solve(torch.eye(3) * -1, decision=True)
    assert torch.equal(solved.solution, torch.eye(3, dtype=torch.float64))
    assert solved.decision is not None
    assert torch.equal(solved.decision, solved.solution)
    assert solved.status is None
    assert solved.gap is None


def test_the_function_sees_costs_in_the_users_sense() -> None:
    seen = []

    def dearest(costs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        seen.append(costs.tolist())
        return costs == costs.max()

    solved = FunctionBackend(dearest, width=3, sign=-1.0).solve(torch.tensor([[-1.0, -5.0, -2.0]]))
    assert seen == [[1.0, 5.0, 2.0]]
    assert solved.solution.tolist() == [[0.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1.0, 0.0], r"the solver function must return 3 values, got shape \(2,\)"),
        ([[1.0, 0.0, 0.0]], r"the solver function must return 3 values, got shape \(1, 3\)"),
        (None, r"must return 3 values, got shape \(\)"),
        ([np.nan, 0.0, 0.0], "the solver function returned NaN or infinite values"),
        ([np.inf, 0.0, 0.0], "the solver function returned NaN or infinite values"),
        ([1.0, 1.0, 0.0], "the solver function returned a solution that is infeasible for the model"),
        ([0.5, 0.0, 0.0], "infeasible for the model"),
        ("text", r"must return the values of a solution as .*, and nothing else, got str: could not convert"),
        (([1.0, 0.0, 0.0], 3.0), "and nothing else, got tuple: "),
        ([1j, 0.0, 0.0], "and nothing else, got list: complex128 numbers"),
        (RuntimeError("license expired"), "RuntimeError: license expired"),
    ],
)
def test_a_faulty_answer_is_one_instances_status(answer: Any, message: str) -> None:
    def function(costs: np.ndarray[Any, Any]) -> Any:
        if costs[0] != 2.0:
            return [1.0, 0.0, 0.0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    costs = torch.tensor([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
    solved = FunctionBackend(function, width=3, sign=1.0, model=KNAPSACK).solve(costs)
    assert solved.found.tolist() == [True, False, True]
    assert solved.statuses == [Status.OPTIMAL, Status.ERROR, Status.OPTIMAL]
    assert solved.gap is not None
    assert solved.gap.tolist() == [0.0, np.inf, 0.0]
    assert list(solved.message) == [1]
    assert re.search(message, solved.message[1])


def test_without_a_model_any_finite_answer_of_the_right_length_is_taken() -> None:
    solved = FunctionBackend(lambda c: [7.5, -0.0, 1.0], width=3, sign=1.0).solve(torch.zeros(1, 3))
    assert solved.solution.tolist() == [[7.5, 0.0, 1.0]]
    assert not torch.signbit(solved.solution).any(), "equal solutions must be equal bits"


def test_integers_are_rounded_so_that_equal_decisions_are_equal_arrays() -> None:
    backend = FunctionBackend(lambda c: [1.0 - 1e-9, 1e-9, -1e-9], width=3, sign=1.0, model=KNAPSACK)
    assert backend.solve(torch.zeros(1, 3)).solution.tolist() == [[1.0, 0.0, 0.0]]


def test_a_tensor_with_a_gradient_is_a_fine_answer() -> None:
    weight = torch.ones(3, requires_grad=True)
    solved = FunctionBackend(lambda c: weight * 2, width=3, sign=1.0).solve(torch.zeros(1, 3, requires_grad=True))
    assert solved.solution.tolist() == [[2.0, 2.0, 2.0]]
    assert not solved.solution.requires_grad


def test_the_function_cannot_change_the_costs() -> None:
    def spoil(costs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        costs[:] = 0.0
        return costs

    costs = torch.ones(2, 3, dtype=torch.float64)
    FunctionBackend(spoil, width=3, sign=1.0).solve(costs)
    assert torch.equal(costs, torch.ones(2, 3, dtype=torch.float64))


def test_a_family_hands_over_the_instance_and_checks_against_its_member() -> None:
    family = Family([MILP([[1.0, 1.0]], row_upper=float(k)) for k in (1, 2)])
    seen = []

    def function(costs: np.ndarray[Any, Any], instance: int) -> list[float]:
        seen.append(instance)
        return [1.0, 1.0]

    backend = FunctionBackend(function, width=2, sign=1.0, model=family, with_instance=True)
    solved = backend.solve(torch.zeros(3, 2), torch.tensor([1, 0, 1]))
    assert seen == [1, 0, 1]
    assert solved.found.tolist() == [True, False, True]


@pytest.mark.parametrize("answer", [[1.0, 0.0], [1.0, 0.0, 99.0]])
def test_known_costs_are_the_models_not_the_functions(answer: list[float]) -> None:
    milp = MILP([[1.0, 1.0]], fixed_cost=[2.0, 3.0], constant=10.0)
    backend = FunctionBackend(lambda c: answer, width=3, sign=1.0, model=milp)
    solved = backend.solve(torch.tensor([[1.0, 1.0, 1.0]]), decision=True)
    assert solved.solution.tolist() == [[1.0, 0.0, 12.0]]
    assert solved.decision is not None
    assert solved.decision.tolist() == [[1.0, 0.0]]


def test_behind_a_cost_map_the_answer_is_in_cost_space_and_only_its_length_is_checked() -> None:
    milp = MILP([[1.0, 1.0, 1.0]], cost_map=[[1.0, 2.0, 3.0]])
    solved = FunctionBackend(lambda c: [42.0], width=1, sign=1.0, model=milp).solve(torch.zeros(1, 1))
    assert solved.solution.tolist() == [[42.0]]


def test_an_interrupt_goes_through() -> None:
    def interrupt(costs: np.ndarray[Any, Any]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FunctionBackend(interrupt, width=1, sign=1.0).solve(torch.zeros(1, 1))


def test_a_function_that_hangs_is_given_up_on_after_its_limit() -> None:
    done = threading.Event()

    def solver(costs):
        if costs[0] > 5:
            done.wait()
        return costs

    problem = Problem(oracle=solver, dimension=2, time_limit=0.1, on_failure="skip")
    try:
        solved = problem.attempt(torch.tensor([[1.0, 2.0], [9.0, 1.0], [3.0, 4.0]]))
    finally:
        done.set()
    assert solved.statuses == [Status.OPTIMAL, Status.TIME_LIMIT, Status.OPTIMAL]
    assert solved.solution[[0, 2]].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert solved.message == {1: "the solver function took longer than 0.1 s and was given up on"}
    assert pickle.loads(pickle.dumps(Problem(oracle=max, dimension=2, time_limit=0.1))).backend.time_limit == 0.1


def test_a_function_has_no_more_room_than_the_tolerance_of_the_library() -> None:
    milp = MILP([[1.0, 1.0]], row_upper=1.0, integer=False)
    for excess, found in ((1e-7, True), (5e-5, False)):
        backend = FunctionBackend(lambda costs, e=excess: [1.0, e], width=2, sign=1.0, model=milp)  # type: ignore[misc]
        assert backend.solve(torch.zeros(1, 2)).found.tolist() == [found]
