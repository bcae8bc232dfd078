from __future__ import annotations

import copy

import pytest
import torch

from regretless.errors import SolveError
from regretless.family import Family
from regretless.label_memory import LabelMemory
from regretless.labels import solve_labels
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.types import Status

BAG = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)
COSTS = torch.tensor([[4.0, 5.0, 6.0], [1.0, 9.0, 1.0], [4.0, 5.0, 6.0]], dtype=torch.float64)


def solves(problem: Problem) -> int:
    return problem.statistics.solves


def test_a_row_is_solved_once_whatever_data_it_is_part_of() -> None:
    memory, problem = LabelMemory(), Problem(BAG, sense="max")
    first, _ = solve_labels(problem, COSTS[:2], memory=memory)
    assert solves(problem) == 2
    again = Problem(copy.deepcopy(BAG), sense="max")  # a clone of an estimator has a copy
    second, status = solve_labels(again, COSTS[[1, 0, 2]], memory=memory)
    assert solves(again) == 0
    assert torch.equal(second, first[[1, 0, 0]])
    assert status == [Status.OPTIMAL] * 3
    assert copy.deepcopy(memory) is memory


def test_models_senses_and_members_are_told_apart() -> None:
    memory = LabelMemory()
    family = Family.vary(BAG, row_upper=[[7.0], [3.0]])
    problems = [Problem(BAG, sense="max"), Problem(BAG), Problem(MILP(BAG.A, row_upper=4.0), sense="max")]
    found = [solve_labels(problem, COSTS[:1], memory=memory)[0] for problem in problems]
    members = Problem(family, sense="max")
    both, _ = solve_labels(members, COSTS[[0, 0]], torch.tensor([0, 1]), memory=memory)
    assert all(solves(problem) == 1 for problem in problems)
    assert torch.equal(both, torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]], dtype=torch.float64))
    assert torch.equal(found[0], both[:1])
    # a member has the same labels in a family that has grown
    family.add(row_upper=[[5.0]])
    before = solves(members)
    solve_labels(members, COSTS[[0, 0]], torch.tensor([0, 1]), memory=memory)
    assert solves(members) == before


def test_functions_without_a_name_are_not_remembered() -> None:
    memory = LabelMemory()
    problem = Problem(oracle=lambda c: c == c.min(), dimension=3)
    solve_labels(problem, COSTS[:1], memory=memory)
    solve_labels(problem, COSTS[:1], memory=memory)
    assert (solves(problem), len(memory)) == (2, 0)


def test_failures_are_named_by_their_row_and_faults_are_tried_again() -> None:
    memory = LabelMemory()
    family = Family([BAG, MILP(BAG.A, row_lower=20.0)])
    solve_labels(Problem(family), COSTS[:1], torch.tensor([0]), memory=memory)
    for _ in range(2):  # fresh, and from memory
        with pytest.raises(SolveError, match="instance 1 of the batch"):
            solve_labels(Problem(family), COSTS[:2], torch.tensor([0, 1]), memory=memory)
    memory.put(b"late", torch.zeros(3), Status.TIME_LIMIT)
    assert memory.find([b"late"]) == {}


def test_memory_is_bounded_and_drops_what_was_used_least_recently() -> None:
    memory = LabelMemory(most=6)
    for key in (b"a", b"b"):
        memory.put(key, torch.zeros(3), Status.OPTIMAL)
    memory.find([b"a"])
    memory.put(b"c", torch.zeros(3), Status.OPTIMAL)
    assert sorted(memory.find([b"a", b"b", b"c"])) == [0, 2]


def test_changes_of_labels_that_were_returned_do_not_reach_the_memory() -> None:
    memory, problem = LabelMemory(), Problem(BAG, sense="max")
    for _ in range(2):  # fresh, and from memory
        labels, _ = solve_labels(problem, COSTS, memory=memory)
        assert labels.tolist() == [[1.0, 1.0, 0.0]] * 3
        labels.fill_(0.0)
    labels, _ = solve_labels(problem, COSTS, memory=memory)
    assert labels.tolist() == [[1.0, 1.0, 0.0]] * 3


def test_a_label_that_alone_exceeds_the_bound_is_kept() -> None:
    memory = LabelMemory(most=2)
    for key in (b"a", b"b"):
        memory.put(key, torch.zeros(3), Status.OPTIMAL)
    assert (list(memory.find([b"a", b"b"])), len(memory)) == ([1], 1)
