from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless import Problem
from regretless.errors import InputError, RegretlessWarning, SolveError
from regretless.problems import load
from regretless.problems.solving import Solving


def chosen(costs):
    """The cheapest item; rows whose first cost is negative have no solution."""
    if costs[0] < 0:
        raise ValueError("no solution")
    return costs == costs.min()


def parts_of(costs, rows, on_failure="raise"):
    problem = Problem(oracle=chosen, dimension=2, name="cheapest")
    return Solving(on_failure=on_failure).labelled(problem, np.arange(len(costs))[:, None], costs, rows)


COSTS = np.array([[1.0, 2.0], [-1.0, 0.0], [4.0, 3.0], [5.0, 6.0], [-2.0, 1.0]])


def test_parts_have_their_rows_in_the_given_order():
    first, none, second = parts_of(np.abs(COSTS), [np.array([4, 0]), [], [1, 2, 3]])
    assert first.features.flatten().tolist() == [4, 0]
    assert second.features.flatten().tolist() == [1, 2, 3]
    assert (len(none), first.names) == (0, None)


@pytest.mark.parametrize("on_failure", ["skip", "cache"])
def test_rows_without_a_solution_are_left_out_of_their_part(on_failure):
    with pytest.warns(RegretlessWarning, match="2 of 5 instances have no solution and are left out: 1, 4"):
        first, second = parts_of(COSTS, [[3, 1, 0], [4, 2]], on_failure=on_failure)
    assert first.features.flatten().tolist() == [3, 0]
    assert first.costs.tolist() == [[5.0, 6.0], [1.0, 2.0]]
    assert second.solutions.tolist() == [[0.0, 1.0]]


def test_a_part_without_any_solution_is_an_error():
    with (
        pytest.warns(RegretlessWarning),
        pytest.raises(SolveError, match="cheapest has no solution for any of the 2 instances"),
    ):
        parts_of(COSTS, [[0, 2], [1, 4]], on_failure="skip")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("travelling-salesman", {"nodes": 6, "train": 3, "test": 2}),
        ("facility-location", {"customers": 5, "facilities": 4, "train": 3, "test": 2, "split_seed": 1}),
        ("synthetic-knapsack-60", {"days": 20, "engine": "highs"}),
        ("workshop", {"orders": 2, "train": 3, "test": 2}),
    ],
)
def test_labels_of_named_problems_follow_on_failure(name, options, monkeypatch):
    whole = load(name, **options)
    attempt = Problem.attempt

    def fails_once(self, costs, *args, **settings):
        solved = attempt(self, costs, *args, **settings)
        same = (costs == self.to_minimization(whole.train.costs[:1])).all(dim=1)
        ends = [type(end)("time limit") if lost else end for end, lost in zip(solved.statuses, same, strict=True)]
        solution = torch.where(same[:, None], torch.nan, solved.solution)
        return type(solved)(solution, ends, decision=solved.decision)

    monkeypatch.setattr(Problem, "attempt", fails_once)
    with pytest.raises(SolveError, match=r": time limit\. Set on_failure='cache' or 'skip'"):
        load(name, **options)
    with pytest.warns(RegretlessWarning, match="have no solution and are left out"):
        loaded = load(name, **options, on_failure="skip")
    assert torch.equal(loaded.train.costs, whole.train.costs[1:])
    assert torch.equal(loaded.train.solutions, whole.train.solutions[1:])
    assert torch.equal(loaded.test.costs, whole.test.costs)
    assert loaded.problem.on_failure == "skip"


def test_a_gap_is_for_engines() -> None:
    assert load("synthetic-knapsack-60", days=20, engine="highs", gap=0.1).problem.solver == "highs(gap=0.1)"
    with pytest.raises(InputError, match=r"gap= is for engines, .* add engine='highs'"):
        load("synthetic-knapsack-60", days=20, gap=0.1)
