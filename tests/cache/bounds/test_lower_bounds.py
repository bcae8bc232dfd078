from __future__ import annotations

import os

import pytest
import torch

from regretless.cache.bounds import LagrangianBound, OwnBound, find_groups, make_bound
from regretless.errors import InputError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems import BenchmarkProblem, load
from regretless.problems.energy import Instance, Machine, Task, formulate
from regretless.solvers import EnginePool

MODEL = MILP([[3.0, 4.0, 5.0], [1.0, 0.0, 2.0]], row_upper=[7.0, 2.0])


def drawn(batch: int, seed: int = 0) -> torch.Tensor:
    return -torch.rand(batch, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_a_problem_brings_its_own_bound_or_its_model_or_none():
    own = Problem(MODEL, bound=lambda costs, instance: costs.sum(dim=1))
    assert isinstance(make_bound(own), OwnBound)
    assert make_bound(own)(drawn(2).float()).dtype == torch.float64
    assert isinstance(make_bound(own, "lagrangian"), LagrangianBound)
    assert isinstance(make_bound(Problem(MODEL)), LagrangianBound)
    assert not make_bound(Problem(MODEL)).linear
    assert make_bound(Problem(MODEL), "linear").linear
    function = Problem(oracle=lambda c: c, dimension=2)
    assert make_bound(function) is None
    mine = OwnBound(lambda costs, instance: costs.sum(dim=1))
    assert make_bound(function, mine) is mine
    for problem, kind, message in (
        (function, "lagrangian", "needs a problem with a MILP"),
        (function, "linear", "needs a problem with a MILP"),
        (Problem(MODEL), "own", "with its own bound"),
        (Problem(MODEL), "magic", "bound must be"),
        (Problem(MODEL), 5, "bound must be .* got 5"),
        (Problem(MODEL), OwnBound, "got the class OwnBound"),
    ):
        with pytest.raises(InputError, match=message):
            make_bound(problem, kind)


def test_linear_solves_relaxations_only_where_the_known_value_is_not_reached(monkeypatch):
    bound = LagrangianBound(MODEL, linear=True)
    costs = drawn(6)
    calls = []
    member = bound.member()
    original = member._solve_relaxation
    monkeypatch.setattr(member, "_solve_relaxation", lambda row: calls.append(1) or original(row))
    free = bound(costs)
    assert len(calls) == 6, "with no value known all are open"
    assert (free > LagrangianBound(MODEL)(costs)).any()
    assert len(member.multipliers) == 1, "nothing is kept unless it is noted"
    value = torch.where(torch.arange(6) < 2, torch.inf, member(costs))
    bound(costs, value=value, note=True)
    assert len(calls) == 8
    assert len(member.multipliers) > 1


def test_seeds_are_spread_over_the_training_set(monkeypatch):
    monkeypatch.setattr("regretless.cache.bounds.lower_bounds.SEEDS", 3)
    bound, costs, seen = LagrangianBound(MODEL), drawn(9), []
    monkeypatch.setattr(bound.member(), "seed", lambda few: seen.append(few))
    bound.seed(costs)
    assert torch.equal(seen[0], costs[[0, 4, 8]])


def test_members_of_a_family_are_bounded_by_their_own_rows():
    family = Family([MILP([[1.0, 1.0, 2.0]], row_upper=high) for high in (2.0, 3.0, 4.0)])
    bound, costs, instance = LagrangianBound(family), drawn(9), torch.tensor([2, 0, 1] * 3)
    bound.seed(costs, instance)
    bound.learn(costs, instance, torch.zeros(9, dtype=torch.float64))
    together = bound(costs, instance)
    for k in range(9):
        alone = bound.member(int(instance[k]))(costs[k : k + 1])
        assert torch.allclose(together[k], alone[0])
    again = LagrangianBound(family)
    again.load_state_dict(bound.state_dict())
    assert torch.equal(again(costs, instance), together)


def test_an_empty_batch_has_no_bounds():
    assert LagrangianBound(MODEL)(drawn(0)).shape == (0,)


ENERGY = formulate(
    Instance(
        120,
        (Machine(0, 0, 0, 0, (3.0,)), Machine(1, 0, 0, 0, (2.0,))),
        tuple(Task(k, 2, k, 8 + k, 1.0 + k, (1.0,)) for k in range(4)),
    )
)


def test_the_task_rows_of_energy_are_found_and_need_no_multipliers_while_machines_have_room():
    groups = find_groups(ENERGY)
    assert [group.row for group in groups] == [0, 1, 2, 3]
    assert not any(group.optional for group in groups)
    costs = torch.rand(20, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    problem = Problem(ENERGY)
    best = (problem(costs) * costs).sum(dim=1)
    bound = LagrangianBound(ENERGY)
    assert torch.allclose(bound(costs), best, rtol=1e-9)
    assert len(bound.member().multipliers) == 1


def predicted(loaded: BenchmarkProblem) -> torch.Tensor:
    """Prices of the test days by least squares."""

    def design(features: torch.Tensor) -> torch.Tensor:
        rows = features.reshape(-1, features.shape[-1]).to(torch.float64)
        return torch.cat([rows, torch.ones(len(rows), 1, dtype=torch.float64)], dim=1)

    prices = loaded.train.costs.reshape(-1, 1).to(torch.float64)
    weights = torch.linalg.lstsq(design(loaded.train.features), prices).solution
    return (design(loaded.test.features) @ weights).reshape(loaded.test.costs.shape)


@pytest.mark.parametrize(
    "name", ["energy-1", *(pytest.param(name, marks=pytest.mark.slow) for name in ("energy-2", "energy-3"))]
)
def test_at_predicted_prices_the_bound_is_the_relaxation_but_for_a_hundredth_of_a_per_cent(name):
    if not os.environ.get("REGRETLESS_DATA"):
        pytest.skip("REGRETLESS_DATA names no folder with the public files")
    loaded = load(name)
    model = loaded.problem.model
    tasks = len(loaded.problem.backend.instance.tasks)
    assert [group.row for group in find_groups(model)] == list(range(tasks))
    bound = LagrangianBound(model)
    bound.seed(loaded.train.costs)
    prices = predicted(loaded)[::4]
    relaxed = (EnginePool(model.relax()).solve(prices).solution * prices).sum(dim=1)
    assert float(((relaxed - bound(prices)) / relaxed).mean()) < 1e-4
