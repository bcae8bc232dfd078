from __future__ import annotations

import pytest
import torch

from regretless.cache import LargestGap, SolutionCache, SolutionStore
from regretless.cache.bounds import LagrangianBound
from regretless.cache.gap_bound import GapBound
from regretless.errors import InputError
from regretless.problem import Problem

from .recorders import MODEL, POINTS, draw, exact

PROBLEM = Problem(MODEL)
WITHOUT = Problem(oracle=lambda c: c, dimension=4)


def test_a_bound_is_built_on_first_use_and_seeded_once(monkeypatch):
    seeded = []
    monkeypatch.setattr(LagrangianBound, "seed", lambda self, costs, instance=None: seeded.append(costs))
    bound, costs = GapBound(PROBLEM, None), draw(3, 4)
    bound.prepare(costs, None)
    assert bound.state_dict() is None
    assert seeded == []
    assert bound.get() is bound.get()
    assert seeded == [costs]


def test_a_kind_that_the_problem_does_not_have_is_refused_at_once():
    with pytest.raises(InputError, match="bound='lagrangian' needs a problem with a MILP"):
        GapBound(WITHOUT, "lagrangian")


def test_gaps_of_a_problem_without_a_bound_or_of_costs_that_do_not_fit_are_refused():
    store = SolutionStore(4)
    with pytest.raises(InputError, match="gaps need a bound, and this problem has neither"):
        GapBound(WITHOUT, None).gaps(store, draw(1, 4), None, note=False)
    with pytest.raises(InputError, match=r"costs must have shape \(batch, 4\), got \(1, 3\)"):
        GapBound(PROBLEM, None).gaps(store, draw(1, 3), None, note=False)
    with pytest.raises(InputError, match="no family"):
        GapBound(PROBLEM, None).gaps(store, draw(1, 4), torch.tensor([0]), note=False)


def test_what_was_learned_from_optima_closes_their_gaps_and_is_restored():
    store, costs = SolutionStore(4, dtype=torch.float64), draw(6, 4).double()
    store.add(POINTS)
    bound = GapBound(PROBLEM, None)
    before = bound.gaps(store, costs, None, note=False)
    bound.learn(costs, None, exact(costs, POINTS.double()))
    after = bound.gaps(store, costs, None, note=False)
    assert (after <= before + 1e-12).all()
    assert after.sum() < before.sum()
    again = GapBound(PROBLEM, None)
    again.load_state_dict(bound.state_dict())
    assert torch.equal(again.gaps(store, costs, None, note=False), after)


def test_a_bound_that_was_never_needed_learns_nothing():
    bound = GapBound(PROBLEM, None)
    bound.learn(draw(2, 4), None, POINTS[:2])
    assert bound.state_dict() is None


def test_a_cache_that_goes_back_to_its_start_forgets_what_its_bound_has_learned():
    cache = SolutionCache(Problem(MODEL), POINTS[:2], policy=LargestGap(0.5), seed=1)
    cache.prepare(draw(5, 4, seed=2).double())
    start, costs = cache.state_dict(), draw(8, 4, seed=3)
    first, learned = cache(costs), cache.state_dict()["bound"]
    cache.load_state_dict(start)
    assert cache.state_dict()["bound"] is None
    assert torch.equal(cache(costs), first)
    again = cache.state_dict()["bound"]
    for (_, one), (_, other) in zip(learned["members"], again["members"], strict=True):
        assert torch.equal(one["multipliers"]["values"], other["multipliers"]["values"])
