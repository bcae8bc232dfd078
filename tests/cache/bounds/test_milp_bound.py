"""The Lagrangian bound against models whose every decision is tried."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regretless.cache.bounds import MilpBound
from regretless.milp import MILP

from .small_models import Small, small_models


def check_never_above_the_optimum(small: Small, seed: int) -> None:
    costs, optimum = torch.from_numpy(small.costs), small.optimum
    bound = MilpBound(small.milp, most=4)
    most = optimum + 1e-9 * (np.abs(small.costs).sum(axis=1) + np.abs(optimum))
    assert (bound(costs).numpy() <= most).all(), "with no multipliers"
    bound.seed(costs[:1])
    assert (bound(costs).numpy() <= most).all(), "with those of the first cost"
    bound.learn(costs, torch.from_numpy(optimum))
    assert (bound(costs, note=True).numpy() <= most).all(), "with those of all costs"
    assert (bound.relax(costs, keep=False).numpy() <= most).all(), "with those of each cost"
    generator = np.random.default_rng(seed)
    for scale in (0.1, 10.0):
        y = scale * generator.normal(size=len(bound.dualized))
        assert (bound.at(costs, y).numpy() <= most).all(), "with any"


@given(small_models(), st.integers(0, 1000))
def test_the_bound_never_exceeds_the_optimum(small, seed):
    check_never_above_the_optimum(small, seed)


@pytest.mark.slow
@settings(max_examples=1000)
@given(small_models(grouped=True), st.integers(0, 1000))
def test_the_bound_never_exceeds_the_optimum_with_groups_often(small, seed):
    check_never_above_the_optimum(small, seed)


@pytest.mark.slow
@settings(max_examples=1000)
@given(small_models(grouped=False), st.integers(0, 1000))
def test_the_bound_never_exceeds_the_optimum_without_groups_often(small, seed):
    check_never_above_the_optimum(small, seed)


@given(small_models())
def test_at_its_own_multipliers_it_reaches_the_relaxation(small):
    from regretless.solvers.highs import HighsEngine

    costs = torch.from_numpy(small.costs)
    found = MilpBound(small.milp).relax(costs, keep=False).numpy()
    engine = HighsEngine(small.milp.relax())
    for k, objective in enumerate(small.milp.objective(small.costs)):
        outcome = engine.solve(objective)
        if outcome.x is None:
            continue  # the relaxation is unbounded where an infinite bound was drawn and costs pull at it
        value = float(small.costs[k] @ small.milp.solution(outcome.x)[0])
        assert found[k] >= value - 1e-6 * (1.0 + np.abs(small.costs[k]).sum())


def test_rows_of_each_kind_pull_at_the_right_end():
    # min x over -5 <= x <= 5 with one row each: the bound with y = 1 is the row's own.
    cost = torch.tensor([[1.0]], dtype=torch.float64)
    ends = {"lower": (2.0, np.inf), "equal": (2.0, 2.0), "range": (2.0, 3.0)}
    for low, high in ends.values():
        milp = MILP([[1.0]], row_lower=low, row_upper=high, lower=-5.0, upper=5.0, integer=False)
        assert MilpBound(milp).at(cost, np.array([1.0])).tolist() == pytest.approx([2.0], rel=1e-13)
    above = MILP([[1.0]], row_upper=2.0, lower=-5.0, upper=5.0, integer=False)
    assert MilpBound(above).at(-cost, np.array([-1.0])).tolist() == pytest.approx([-2.0], rel=1e-13)
    # A multiplier that pulls at an infinite end counts as zero.
    assert MilpBound(above).at(cost, np.array([1.0])).tolist() == [-5.0]


@pytest.mark.parametrize("penalty", [1e9, 1e12, 1e15])
def test_the_rounding_of_large_penalties_does_not_lift_the_bound_above_the_optimum(penalty):
    # The rows leave one decision, (0, 1, 1): with any multipliers the bound is its value, up to rounding.
    milp = MILP([[1, 1, 1], [2, 1, 0], [1, 0, 3]], row_lower=[2, 1, 3], row_upper=[2, 1, 3])
    generator = np.random.default_rng(0)
    costs = np.concatenate([np.full((40, 1), penalty), generator.integers(-9, 10, (40, 2))], axis=1)
    bound = MilpBound(milp)
    bound.seed(torch.from_numpy(generator.normal(size=(20, 3))))
    found, optimum = bound(torch.from_numpy(costs)).numpy(), costs[:, 1:].sum(axis=1)
    assert (found <= optimum).all()
    assert found == pytest.approx(optimum, abs=1e-12 * penalty)


@pytest.mark.parametrize(("lower", "upper", "cost"), [(-np.inf, 1.0, 1.0), (0.0, np.inf, -1.0), (-np.inf, np.inf, 1.0)])
def test_an_infinite_bound_leaves_no_bound_unless_its_reduced_cost_is_zero(lower, upper, cost):
    milp = MILP([[1.0]], row_lower=-3.0, row_upper=3.0, lower=lower, upper=upper, integer=False)
    bound = MilpBound(milp)
    costs = torch.tensor([[cost]], dtype=torch.float64)
    assert bound(costs).tolist() == [-np.inf]
    assert bound.at(costs, np.array([cost])).tolist() == pytest.approx([-3.0], rel=1e-13)
    bound.seed(costs)
    assert bound(7 * costs).tolist() == pytest.approx([-21.0]), "multipliers are scaled to the cost at hand"


def test_multipliers_of_one_cost_serve_another_in_many_blocks(monkeypatch):
    generator = np.random.default_rng(0)
    milp = MILP(generator.integers(1, 9, (3, 12)), row_upper=20.0)
    costs = torch.from_numpy(-generator.random((9, 12)))
    bound = MilpBound(milp)
    bound.seed(costs[:4])
    together = bound(costs)
    monkeypatch.setattr("regretless.cache.bounds.milp_bound.BLOCK_VALUES", 2 * 5 * 12)
    assert torch.equal(bound(costs), together)
    one_by_one = torch.cat([bound(row[None]) for row in costs])
    assert torch.allclose(one_by_one, together, rtol=1e-12)


def test_learning_stops_where_the_relaxation_closes_nothing(monkeypatch):
    monkeypatch.setattr("regretless.cache.bounds.milp_bound.PATIENCE", 3)
    milp = MILP([[2.0, 3.0, 4.0]], row_upper=3.0)  # the relaxation takes 4/3 items, the optimum one
    costs = -torch.ones(20, 3, dtype=torch.float64)
    bound = MilpBound(milp)
    calls = []
    original = bound._solve_relaxation
    bound._solve_relaxation = lambda row: calls.append(1) or original(row)
    bound.learn(costs, -torch.ones(20, dtype=torch.float64))
    assert len(calls) == 4, "one that helps and three that do not"


def test_state_and_copies_give_the_same_bounds_and_learn_alike():
    generator = np.random.default_rng(1)
    milp = MILP(generator.integers(1, 9, (4, 10)), row_upper=15.0)
    costs = torch.from_numpy(-generator.random((8, 10)))
    first = MilpBound(milp, most=3)
    first.seed(costs[:3])
    first(costs, note=True)
    again = MilpBound(milp, most=3)
    again.load_state_dict(first.state_dict())
    others = [again, copy.deepcopy(first), pickle.loads(pickle.dumps(first))]
    first.learn(costs, torch.zeros(8, dtype=torch.float64))
    for other in others:
        other.learn(costs, torch.zeros(8, dtype=torch.float64))
        assert np.array_equal(other.multipliers.values, first.multipliers.values)
        assert torch.equal(other(costs), first(costs))


def test_rounding_of_terms_that_cancel_does_not_count_as_a_reduced_cost():
    # Multipliers of size 2 add up to the cost 1.3e-4 of a variable without a lower bound, up to their own rounding.
    milp = MILP(
        [[-1, 1], [3, 1], [2, 1], [2, 0]],
        row_lower=[-np.inf, -np.inf, 0, 0],
        row_upper=0,
        lower=[-np.inf, 0],
        upper=[0, 1],
        fixed_cost=[0, -2],
    )
    costs = torch.tensor([[1.25730221e-04, -1.32104863e-04, 1.0]], dtype=torch.float64)
    assert MilpBound(milp).relax(costs, keep=False).tolist() == pytest.approx([0.0], abs=1e-12)


def test_where_all_costs_are_zero_the_bound_is_zero():
    two_groups = MILP([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]], row_lower=1, row_upper=1)
    assert MilpBound(two_groups)(torch.zeros(1, 5, dtype=torch.float64)).tolist() == [0.0]
