from __future__ import annotations

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.cache.served_instances import served, sharing_note
from regretless.errors import InputError, RegretlessWarning
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem

from .recorders import LIMITS, MODEL, POINTS, WEIGHTS, family


def test_a_row_serves_the_instances_whose_constraints_it_meets():
    many, ids = family(), torch.full((len(POINTS),), 2)
    weight = POINTS @ torch.tensor(WEIGHTS)
    expected = weight[None] <= torch.tensor(LIMITS)[:, None]
    assert torch.equal(served(many, POINTS, ids), expected)


def test_a_row_serves_the_instance_it_was_found_for_whatever_a_tolerance_says():
    mask = served(family(), torch.tensor([[1.0, 1.0, 1.0, 1.0]]), torch.tensor([1]))
    assert mask.tolist() == [[False], [True], [False]]


def test_a_single_problem_has_no_mask():
    assert served(Problem(MODEL), POINTS, None) is None


def test_solutions_are_shared_where_they_are_feasible():
    cache = SolutionCache(family(), [[0.0, 0.0, 0.0, 1.0]], instance=[2])
    assert cache.store.serves.tolist() == [[True], [True], [True]]
    cache.add([[1.0, 0.0, 1.0, 0.0]], instance=[2])
    assert cache.store.serves[:, 1].tolist() == [False, False, True]


def test_without_a_way_to_check_a_solution_serves_only_its_own_instance():
    without_model = Problem(oracle=lambda costs, instance: (costs < 0) * 1.0, dimension=2, instances=3)
    with pytest.warns(RegretlessWarning, match="not shared between the 3 instances"):
        cache = SolutionCache(without_model, [[1.0, 1.0]], instance=[1], p_solve=0.0)
    assert cache.store.serves[:, 0].tolist() == [False, True, False]
    with pytest.raises(InputError, match="feasible for instance 0"):
        cache(torch.ones(1, 2), torch.tensor([0]))


def test_where_nothing_is_shared_a_note_says_why():
    function = Problem(oracle=lambda c, i: c, dimension=2, instances=3)
    assert "not shared between the 3 instances of this family, because it has no model" in str(sharing_note(function))
    assert sharing_note(Problem(oracle=lambda c, i: c, dimension=2, instances=1)) is None
    assert sharing_note(family()) is None
    assert sharing_note(Problem(MODEL)) is None


def test_members_that_join_a_family_are_taken_over_with_the_solutions_that_serve_them():
    many = Problem(Family.vary(MODEL, row_upper=[[8.0]]))
    cache = SolutionCache(many, POINTS, instance=[0] * len(POINTS), p_solve=0.0)
    (new,) = many.family.add(row_upper=[[3.0]])
    answer = cache(-torch.ones(1, 4), torch.tensor([new]))
    assert answer.sum() == 1.0  # the best of what weighs at most 3
    assert torch.equal(cache.store.serves[new], POINTS @ torch.tensor(WEIGHTS) <= 3.0)


def test_a_solution_that_breaks_the_model_is_refused_with_its_number():
    cache = SolutionCache(Problem(MODEL), POINTS[:2])
    with pytest.raises(InputError, match="solution 1 is infeasible for the model"):
        cache.add(torch.stack([POINTS[2], torch.full_like(POINTS[0], 0.5), torch.ones_like(POINTS[0])]))
    assert len(cache) == 2


def test_where_a_solution_does_not_show_the_decision_it_is_taken_as_it_is():
    mapped = MILP([[3.0, 4.0, 5.0]], row_upper=7.0, cost_map=[[1.0, 1.0, 1.0]])
    assert SolutionCache(Problem(mapped)).add([[99.0]]) == 1


def test_a_solution_that_breaks_the_model_of_its_own_instance_is_refused():
    cache, heavy = SolutionCache(family(), p_solve=0.0), [1.0, 1.0, 1.0, 1.0]
    with pytest.raises(InputError, match="solution 1 is infeasible for instance 0: a cache holds feasible solutions"):
        cache.add([[0.0, 0.0, 0.0, 1.0], heavy], instance=[2, 0])
    assert len(cache) == 0


def test_a_solution_with_other_known_costs_than_its_decision_has_is_refused():
    cache = SolutionCache(Problem(MILP([[1.0, 1.0]], row_upper=1.0, fixed_cost=[1.0, 2.0], constant=3.0)))
    assert cache.add([[0.0, 1.0, 5.0]]) == 1
    with pytest.raises(InputError, match="solution 0 is infeasible for the model"):
        cache.add([[1.0, 0.0, -9.0]])  # it would win every look-up
