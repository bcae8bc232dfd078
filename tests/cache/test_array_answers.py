"""Answers for arrays are those for tensors: the same coins, solves, members and counters."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.cache import Bernoulli, GapAbove, LargestGap, Policy, SolutionCache
from regretless.errors import SolveError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.knapsack.oracle import knapsack_problem

WEIGHTS = np.repeat([3, 5, 7], 4)


def a_cache(policy: Policy, grow_at: str = "transformed") -> SolutionCache:
    problem = knapsack_problem(WEIGHTS, 20)
    return SolutionCache(problem, torch.zeros(1, 12), policy=policy, grow_at=grow_at, seed=5)


@pytest.mark.parametrize("queries", [1, 2])
@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
@pytest.mark.parametrize(
    "policy",
    [Bernoulli(0.0), Bernoulli(0.1), Bernoulli(0.6), Bernoulli(0.3, per="batch"), LargestGap(0.2), GapAbove(0.1)],
    ids=repr,
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_answers_for_arrays_are_those_for_tensors(queries, grow_at, policy, dtype):
    tensors, arrays = a_cache(policy, grow_at), a_cache(policy, grow_at)
    generator = torch.Generator().manual_seed(0)
    for _ in range(12):
        predicted, *costs = (torch.randn(9, 12, generator=generator, dtype=dtype) for _ in range(queries + 1))
        expected = tensors.answer(costs, predicted)
        found = arrays.answer_arrays([one.numpy() for one in costs], predicted.numpy())
        assert all(map(torch.equal, expected, map(torch.from_numpy, found)))
    assert torch.equal(tensors.solutions, arrays.solutions)
    counts = [(s.asked, s.solves, s.lookups, s.added, s.hits) for s in (tensors.statistics, arrays.statistics)]
    assert counts[0] == counts[1]


def test_an_answer_is_memory_of_its_own():
    cache, costs = a_cache(Bernoulli(0.0)), np.ones((2, 12), dtype=np.float32)
    (first,) = cache.answer_arrays([costs], costs)
    first += 7.0
    (second,) = cache.answer_arrays([costs], costs)
    assert not second.any()
    assert not cache.solutions.any()


def test_families_are_left_to_answer():
    costs = np.ones((2, 2))
    milp = MILP([[1.0, 1.0]], row_upper=1.0)
    assert SolutionCache(Problem(Family([milp, milp]))).answer_arrays([costs], costs) is None


def test_a_solve_that_fails_is_raised():
    def no_luck(costs):
        raise RuntimeError("no luck")

    cache = SolutionCache(Problem(oracle=no_luck, dimension=2), torch.zeros(1, 2), p_solve=1.0)
    with pytest.raises(SolveError, match="no luck"):
        cache.answer_arrays([np.ones((2, 2))], np.ones((2, 2)))
