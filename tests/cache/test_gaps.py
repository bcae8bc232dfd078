"""Certified gaps of a cache: against the true ones, in its reports, and over a stop and a resumption."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given

from regretless.cache import GapAbove, LargestGap, SolutionCache, SolutionStore
from regretless.cache.bounds import LagrangianBound
from regretless.cache.gaps import GapBound
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.family import Family
from regretless.losses import SPOPlus
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.training import fit

from .bounds.small_models import small_models
from .recorders import MODEL, POINTS, draw, exact

ASSIGNMENT = MILP(
    np.concatenate([np.kron(np.eye(3), np.ones(3)), np.kron(np.ones(3), np.eye(3))]), row_lower=1, row_upper=1
)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@given(small_models())
def test_a_gap_is_never_smaller_than_the_true_one(small):
    points = torch.from_numpy(small.milp.solution(small.decisions))
    problem = Problem(small.milp)
    cache = SolutionCache(problem, points[:2], dtype=torch.float64)
    costs = torch.from_numpy(small.costs)
    cache.prepare(costs[:1])
    value, best = (costs @ points[:2].T).min(dim=1).values, (costs @ points.T).min(dim=1).values
    true = (value - best) / torch.maximum(value.abs(), best.abs()).clamp(min=1e-12)
    noise = 1e-9 * costs.abs().sum(dim=1) / torch.maximum(value.abs(), best.abs()).clamp(min=1e-12)
    gaps = cache.gaps(costs)
    least = cache.bound(costs, None, value=value, note=False)
    # The bound is valid; what the gap is relative to grows with a looser bound, so the gaps themselves need not be
    # ordered where value and bound differ in sign. They are then 1 or more, and certify nothing.
    assert (least <= best + 1e-9 * costs.abs().sum(dim=1)).all()
    crossing = (value >= 0) & (least < 0)
    assert (crossing | (gaps >= true - noise)).all()
    assert (gaps[crossing] >= 1 - 1e-12).all()
    assert (gaps >= 0).all()
    assert ((true <= noise) | (gaps > 0)).all(), "what is not optimal has a gap"


def test_with_optimal_multipliers_and_an_integral_relaxation_it_is_the_true_gap():
    problem = Problem(ASSIGNMENT)
    costs = drawn(10, 9).to(torch.float64)
    start = problem(drawn(2, 9, seed=5).to(torch.float64))
    cache = SolutionCache(problem, start, dtype=torch.float64, bound="linear")
    value, best = (costs @ cache.solutions.T).min(dim=1).values, (costs * problem(costs)).sum(dim=1)
    true = (value - best) / torch.maximum(value.abs(), best.abs())
    assert (true > 0.01).any()
    assert torch.allclose(cache.gaps(costs), true, atol=1e-9)
    seeded = SolutionCache(problem, start, dtype=torch.float64, bound="lagrangian")
    seeded.prepare(costs)
    assert torch.allclose(seeded.gaps(costs), true, atol=1e-9)


def test_an_optimum_in_the_cache_has_no_gap_whatever_the_precision_of_the_store():
    # Solutions that float32 cannot hold: their rounding is no gap.
    milp = MILP(np.ones((1, 5)), row_lower=1, row_upper=1, cost_map=np.diag([1 / 3, 0.1, 0.7, 1.1, 0.3]))
    problem = Problem(milp)
    costs = drawn(50, 5).abs() + 10
    cache = SolutionCache(problem, problem(costs), dtype=torch.float32)
    assert (cache.gaps(costs) == 0).all()


def test_computing_gaps_changes_nothing():
    cache = SolutionCache(Problem(ASSIGNMENT), [[1.0, 0, 0, 0, 1, 0, 0, 0, 1]], bound="linear")
    assert not cache.gaps(drawn(4, 9).requires_grad_()).requires_grad
    assert cache.statistics.gaps == 0
    assert len(cache.bound.member().multipliers) == 1
    assert cache.diagnostics() == {}


def test_an_empty_cache_has_an_infinite_gap():
    cache = SolutionCache(Problem(ASSIGNMENT))
    assert torch.isinf(cache.gaps(drawn(2, 9))).all()


def test_costs_must_fit_and_be_finite():
    cache = SolutionCache(Problem(ASSIGNMENT), [[1.0, 0, 0, 0, 1, 0, 0, 0, 1]])
    with pytest.raises(InputError, match=r"must have shape \(batch, 9\)"):
        cache.gaps(torch.zeros(2, 3))
    with pytest.raises(InputError, match="must be finite"):
        cache.gaps(torch.full((2, 9), torch.nan))


def test_instances_of_a_family_have_bounds_of_their_own():
    family = Family([MILP([[3.0, 4.0, 5.0]], row_upper=high) for high in (3.0, 7.0, 12.0)])
    problem = Problem(family, sense="max")
    costs, instance = -drawn(9, 3).abs(), torch.arange(3).repeat(3)
    exact = problem(costs, instance)
    cache = SolutionCache(problem, torch.zeros(2, 3), instance=[0, 1])
    cache.store._serves[2] = False
    cache.store._mean.count[2] = 0
    gaps = cache.gaps(costs, instance)
    assert torch.isinf(gaps[instance == 2]).all(), "no solution serves the last instance"
    assert (gaps[instance != 2] >= 1 - 1e-6).all(), "an empty knapsack against some value"
    cache.add(exact, instance)
    bounds = cache.bound(costs, instance)
    assert (bounds <= (costs * exact).sum(dim=1).to(bounds) + 1e-6).all()


def trained(tmp_path, epochs: int, *, stop: int | None = None) -> tuple[torch.Tensor, list[dict]]:
    generator = np.random.default_rng(0)
    milp = MILP(generator.integers(1, 9, (3, 8)), row_upper=12.0)
    problem = Problem(milp, sense="max")
    features = generator.normal(size=(30, 4))
    data = Dataset.solve(problem, features, np.abs(features @ generator.normal(size=(4, 8))) + 0.1)
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 8)
    model.requires_grad_(True)
    for part in (stop, epochs) if stop else (epochs,):
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 8)
        cache = SolutionCache(problem, data.solutions, seed=0, policy=LargestGap(0.3))
        cache.prepare(problem.to_minimization(data.costs))
        done = fit(
            model, SPOPlus(cache), data, epochs=part, batch_size=7, checkpoint=tmp_path / f"{stop}.safetensors",
            progress=False,
        )  # fmt: skip
    return torch.cat([p.detach().flatten() for p in model.parameters()]), list(done.history)


def test_a_resumed_run_is_bit_for_bit_the_one_never_stopped(tmp_path):
    uninterrupted, rows = trained(tmp_path, 6)
    resumed, again = trained(tmp_path, 6, stop=3)
    assert torch.equal(uninterrupted, resumed)
    names = ("loss", "solves", "lookups", "cache_size", "mean_gap", "largest_gap")
    assert [[row[n] for n in names] for row in rows] == [[row[n] for n in names] for row in again]
    assert sum(row["solves"] for row in rows) > 10


def test_history_holds_mean_and_largest_gap_of_every_epoch(tmp_path):
    _, rows = trained(tmp_path, 3)
    for row in rows:
        assert 0.0 <= row["mean_gap"] <= row["largest_gap"]
    assert rows[0]["largest_gap"] > 0.0


def test_a_coin_reports_no_gaps():
    problem = Problem(ASSIGNMENT)
    cache = SolutionCache(problem, problem(drawn(2, 9)), p_solve=0.5)
    cache(drawn(3, 9))
    assert cache.diagnostics() == {}
    assert cache.state_dict()["bound"] is None


def test_saved_caches_keep_their_multipliers(tmp_path):
    problem = Problem(ASSIGNMENT)
    cache = SolutionCache(problem, problem(drawn(2, 9)), policy=GapAbove(0.0))
    cache.prepare(drawn(5, 9))
    cache(drawn(6, 9, seed=1))
    cache.save(tmp_path / "cache.safetensors")
    again = SolutionCache.load(tmp_path / "cache.safetensors", problem)
    assert np.array_equal(again.bound.member().multipliers.values, cache.bound.member().multipliers.values)
    assert len(cache.bound.member().multipliers) > 1
    assert again.statistics == cache.statistics
    costs = drawn(6, 9, seed=2)
    assert torch.equal(again.gaps(costs), cache.gaps(costs))


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
