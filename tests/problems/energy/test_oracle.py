from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError, SolveError
from regretless.milp import Floats
from regretless.problem import Problem
from regretless.problems.energy import EnergyOracle, Instance, Machine, Task, branching, formulate, packing
from regretless.problems.energy.oracle import window_sums, without_overflow
from regretless.solvers import EnginePool
from regretless.types import Status


def test_sums_equal_sums_of_slices() -> None:
    costs = np.random.default_rng(0).normal(size=(3, 11))
    sums = window_sums(costs, range(1, 12))
    for length in range(1, 12):
        expected = np.stack([costs[:, s : s + length].sum(axis=1) for s in range(12 - length)], axis=1)
        np.testing.assert_allclose(sums[length], expected, atol=1e-14)


def test_a_huge_price_does_not_blur_the_others() -> None:
    costs = np.array([[1e17, 0.25, 0.5, 0.125]])
    assert window_sums(costs, [2])[2][0, 1:].tolist() == [0.75, 0.625]


def test_sums_do_not_depend_on_the_batch() -> None:
    costs = np.random.default_rng(1).normal(size=(50, 48))
    together = window_sums(costs, [7, 26])
    for k in range(50):
        alone = window_sums(costs[k : k + 1], [7, 26])
        assert all((alone[d][0] == together[d][k]).all() for d in (7, 26))


def test_only_rows_that_would_overflow_are_scaled() -> None:
    costs = np.array([[1e308, -1e308, 3.0], [1.0, 2.0, 3.0]])
    scaled = without_overflow(costs)
    assert (scaled[1] == costs[1]).all()
    assert (scaled[0] == costs[0] * 2.0**-200).all()
    assert np.isfinite(window_sums(scaled, [3])[3]).all()


SPECIAL = [
    np.zeros(6), np.ones(6), np.arange(6.0), -np.arange(6.0) ** 2, np.array([1e12, 0, 0, -1e12, 1, 1]), np.eye(6)[2],
]  # fmt: skip


@given(data=st.data())
def test_the_oracle_equals_brute_force(
    data: st.DataObject,
    small_instances: st.SearchStrategy[Instance],
    brute_force: Callable[[Instance, Floats], float],
) -> None:
    instance = data.draw(small_instances)
    prices = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=6, max_size=6) | st.sampled_from(SPECIAL)))
    least = brute_force(instance, prices)
    solved = EnergyOracle(instance).solve(torch.as_tensor(prices, dtype=torch.float64)[None], decision=True)
    if np.isinf(least):
        assert solved.status == [Status.INFEASIBLE]
        assert torch.isnan(solved.solution).all()
    else:
        assert solved.status is None
        assert (solved.solution[0].numpy() @ prices) == pytest.approx(least, rel=1e-9, abs=1e-9)
        assert solved.decision is not None
        model = formulate(instance)
        assert model.check(solved.decision.numpy()).all()
        np.testing.assert_allclose(model.solution(solved.decision.numpy()), solved.solution)


def cost_vectors(slots: int, count: int, real: Floats | None = None) -> Floats:
    """Real-looking prices, noisy predictions of them, negative, zero, tied and huge costs."""
    rng = np.random.default_rng(0)
    hours = np.linspace(0, 2 * np.pi, slots)
    day = 50 + 30 * np.sin(hours - rng.uniform(0, 6, (count, 1))) if real is None else real[:count]
    kinds = [
        day,
        day + rng.normal(0, 20, day.shape),
        -day,
        np.zeros((2, slots)),
        np.ones((1, slots)),
        rng.integers(0, 3, day.shape).astype(float),
        np.sign(day - np.median(day)),
        1e9 * rng.normal(size=day.shape),
        np.where(rng.random(day.shape) < 0.05, 1e12, day),
        rng.normal(size=day.shape),
        np.abs(np.arange(slots) - rng.integers(0, slots, (len(day), 1))) * 1.0,
        -np.eye(slots)[rng.integers(0, slots, len(day))],
    ]
    return np.concatenate(kinds)


def check_against_highs(instance: Instance, costs: Floats) -> None:
    model = formulate(instance)
    oracle, engine = EnergyOracle(instance, model=model), EnginePool(model, engine="highs")
    ours, theirs = oracle.solve(torch.as_tensor(costs), decision=True), engine.solve(torch.as_tensor(costs))
    assert ours.status is None
    assert theirs.status is None
    assert ours.decision is not None
    assert model.check(ours.decision.numpy()).all()
    np.testing.assert_allclose(model.solution(ours.decision.numpy()), ours.solution, rtol=1e-12)
    mine, best = ((solved.solution.numpy() * costs).sum(axis=1) for solved in (ours, theirs))
    # HiGHS judges gaps on the scale of the largest cost: where one is 1e12 it may call a worse schedule optimal.
    fine = np.abs(costs).max(axis=1) < 1e12
    assert fine.sum() >= 0.8 * len(costs)
    np.testing.assert_allclose(mine[fine], best[fine], rtol=1e-9, atol=1e-7)
    assert (mine <= best + 1e-9 * np.abs(best) + 1e-7).all()


def test_the_oracle_equals_highs_on_a_crowded_day(crowded: Instance) -> None:
    check_against_highs(crowded, cost_vectors(crowded.slots, 2))


def test_the_oracle_equals_highs_on_a_published_instance(published: Callable[[str], Instance]) -> None:
    check_against_highs(published("energy-1"), cost_vectors(48, 1)[[0, 1, 2, 5]])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["energy-1", "energy-2", "energy-3"])
def test_the_oracle_equals_highs_on_200_vectors(published: Callable[[str], Instance], name: str) -> None:
    from regretless.problems.irish_market import energy_data

    prices = energy_data()[1]
    costs = cost_vectors(48, 22, prices[::35])
    assert len(costs) >= 200
    check_against_highs(published(name), costs)


def test_cheapest_starts_that_pack_are_taken_and_ties_go_to_the_earliest() -> None:
    instance = Instance(
        360, (Machine(0, 0, 0, 0, (9.0,)),), (Task(0, 1, 0, 4, 2.0, (1.0,)), Task(1, 2, 1, 4, 1.0, (1.0,)))
    )
    solved = EnergyOracle(instance).solve(torch.tensor([[3.0, 1.0, 1.0, 1.0]]))
    assert solved.solution.tolist() == [[0.0, 18.0, 6.0, 0.0]]


def test_answers_depend_neither_on_the_batch_nor_on_earlier_solves(crowded: Instance) -> None:
    costs = torch.as_tensor(cost_vectors(crowded.slots, 10))
    together = EnergyOracle(crowded).solve(costs, decision=True)
    assert together.decision is not None
    used = EnergyOracle(crowded)
    order = torch.randperm(len(costs), generator=torch.Generator().manual_seed(0))
    for k in order.tolist():
        alone = used.solve(costs[k : k + 1], decision=True)
        assert alone.decision is not None
        assert torch.equal(alone.solution[0], together.solution[k])
        assert torch.equal(alone.decision[0], together.decision[k])


@pytest.mark.parametrize(("module", "budget"), [(branching, "NODES"), (packing, "TRIALS")])
def test_beyond_its_budget_the_oracle_solves_the_model(
    monkeypatch: pytest.MonkeyPatch, crowded: Instance, module: object, budget: str
) -> None:
    costs = torch.as_tensor(cost_vectors(crowded.slots, 1))
    expected = (EnergyOracle(crowded).solve(costs).solution * costs).sum(dim=1)
    monkeypatch.setattr(module, budget, 0)
    oracle = EnergyOracle(crowded)
    solved = oracle.solve(costs, decision=True)
    assert oracle._pool is not None, "the budget must have been spent"
    assert solved.decision is not None
    assert formulate(crowded).check(solved.decision.numpy()).all()
    np.testing.assert_allclose((solved.solution * costs).sum(dim=1), expected, rtol=1e-9, atol=1e-7)


def test_copies_solve_alike(crowded: Instance) -> None:
    costs = torch.as_tensor(cost_vectors(crowded.slots, 2))
    oracle = EnergyOracle(crowded)
    expected = oracle.solve(costs).solution
    for twin in (copy.deepcopy(oracle), pickle.loads(pickle.dumps(oracle))):
        assert torch.equal(twin.solve(costs).solution, expected)


def test_an_instance_without_any_schedule_is_reported_and_leaves_the_batch_alone() -> None:
    tasks = tuple(Task(j, 3, 0, 4, 1.0, (2.0,)) for j in range(3))
    oracle = EnergyOracle(Instance(360, (Machine(0, 0, 0, 0, (5.0,)),), tasks))
    solved = oracle.solve(torch.zeros(2, 4), decision=True)
    assert solved.status == [Status.INFEASIBLE] * 2
    assert not solved.found.any()
    problem = Problem(formulate(oracle.instance), oracle=oracle)
    with pytest.raises(SolveError, match="no schedule fits all tasks"):
        problem(torch.zeros(1, 4))


def test_after_the_time_limit_a_schedule_with_its_gap_or_none_is_returned(crowded: Instance) -> None:
    costs = torch.as_tensor(cost_vectors(crowded.slots, 5))
    solved = EnergyOracle(crowded, time_limit=1e-9).solve(costs, decision=True)
    assert Status.TIME_LIMIT in solved.statuses
    assert solved.decision is not None
    assert formulate(crowded).check(solved.decision[solved.found].numpy()).all()
    with pytest.raises(InputError, match="time_limit must be positive"):
        EnergyOracle(crowded, time_limit=0.0)


def test_costs_near_the_largest_number_and_empty_batches_are_solved(crowded: Instance) -> None:
    oracle = EnergyOracle(crowded)
    costs = torch.as_tensor(cost_vectors(crowded.slots, 1))
    scaled = costs * 2.0**960
    assert torch.equal(oracle.solve(scaled).solution, oracle.solve(costs).solution)
    assert oracle.solve(costs[:0], decision=True).solution.shape == (0, 12)


def test_single_precision_costs_are_taken_as_they_are(crowded: Instance) -> None:
    costs = torch.as_tensor(cost_vectors(crowded.slots, 2)).to(torch.float32)
    oracle = EnergyOracle(crowded)
    assert torch.equal(oracle.solve(costs).solution, oracle.solve(costs.double()).solution)


def test_the_published_instances_have_the_published_sizes(
    instances_folder: Path, published: Callable[[str], Instance]
) -> None:
    sizes = {
        name: (len(published(name).machines), len(published(name).tasks))
        for name in ("energy-1", "energy-2", "energy-3")
    }
    assert sizes == {"energy-1": (3, 10), "energy-2": (3, 15), "energy-3": (5, 20)}
