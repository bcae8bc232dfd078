from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.problems.knapsack import oracle as knapsack
from regretless.problems.knapsack import weight_counts
from regretless.problems.knapsack.oracle import KnapsackBound, KnapsackOracle, knapsack_milp, knapsack_problem
from regretless.solvers import EnginePool


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(0, 30), st.integers(0, 1000))
def test_it_is_the_linear_relaxation_and_never_exceeds_the_optimum(weights, capacity, seed):
    costs = torch.from_numpy(np.random.default_rng(seed).normal(size=(3, len(weights))))
    bound = KnapsackBound(weights, capacity)(costs, None)
    problem = knapsack_problem(weights, capacity)
    relaxed = EnginePool(problem.model.relax()).solve(costs).solution
    assert bound.tolist() == pytest.approx((relaxed * costs).sum(dim=1).tolist(), abs=1e-7)
    assert (bound <= (problem(costs) * costs).sum(dim=1) + 1e-9).all()


def test_the_problem_has_the_bound_with_every_solver():
    for engine in ("oracle", "highs"):
        assert isinstance(knapsack_problem([3, 4], 5, engine=engine).bound, KnapsackBound)


COST = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, -2.0, -3.0]),  # ties, nothing, and what is never taken
    st.floats(-9, 9),
    st.sampled_from([1e12, -1e12, 1e-12, -1e-12, -1e100, 1e100]),
)


@st.composite
def cases(draw):
    weights = draw(st.lists(st.integers(1, 9), min_size=1, max_size=7))
    capacity = draw(st.integers(0, sum(weights) + 3))
    costs = draw(st.lists(st.lists(COST, min_size=len(weights), max_size=len(weights)), min_size=1, max_size=3))
    return weights, capacity, torch.tensor(costs, dtype=torch.float64)


def best_value(weights: list[int], capacity: int, costs: torch.Tensor) -> np.ndarray:
    points = np.array([x for x in itertools.product([0, 1], repeat=len(weights)) if np.dot(weights, x) <= capacity])
    return (costs.numpy() @ points.T).min(axis=1)


def check(oracle: KnapsackOracle, weights: list[int], capacity: int, costs: torch.Tensor) -> None:
    found = oracle.solve(costs).solution
    assert found.shape == costs.shape
    assert torch.isin(found, torch.tensor([0.0, 1.0], dtype=torch.float64)).all()
    assert not torch.signbit(found).any()
    assert (found @ torch.tensor(weights, dtype=torch.float64) <= capacity).all()
    assert not (found.bool() & (costs >= 0)).any(), "what gains nothing is left"
    np.testing.assert_allclose((costs * found).sum(dim=1), best_value(weights, capacity, costs), rtol=1e-12)


@given(cases())
@example(([5], 4, torch.tensor([[-1.0]], dtype=torch.float64)))
@example(([1, 1, 1], 2, torch.tensor([[-1.0, -1.0, -1.0]], dtype=torch.float64)))
def test_counting_by_weight_is_brute_force(case):
    weights, capacity, costs = case
    oracle = KnapsackOracle(weights, capacity)
    assert oracle.counts is not None
    check(oracle, weights, capacity, costs)


@given(cases())
@example(([5], 4, torch.tensor([[-1.0]], dtype=torch.float64)))
def test_the_dynamic_program_equals_brute_force(case):
    weights, capacity, costs = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weight_counts, "MOST_COMBINATIONS", 0)
        oracle = KnapsackOracle(weights, capacity)
    assert oracle.counts is None
    check(oracle, weights, capacity, costs)


def paper_like(n: int, seed: int) -> tuple[np.ndarray, torch.Tensor]:
    """48 weights of 3, 5 and 7, and costs like those of the paper: minus price times weight."""
    generator = np.random.default_rng(seed)
    weights = generator.permutation(np.repeat([3, 5, 7], 16))
    prices = np.abs(generator.normal(50, 25, (n, 48)))
    return weights, torch.as_tensor(-prices * (weights + generator.uniform(-1, 1, (n, 48))))


@pytest.mark.parametrize(
    ("capacity", "n"),
    [(60, 6), (120, 6), (180, 6)]
    + [pytest.param(capacity, 200, marks=pytest.mark.slow) for capacity in (60, 120, 180)],
)
def test_both_ways_agree_with_the_model_on_problems_of_the_papers_size(capacity, n, monkeypatch):
    weights, costs = paper_like(n, capacity)
    costs[0] = torch.randn(48, generator=torch.Generator().manual_seed(capacity), dtype=torch.float64)  # both signs
    by_counts = KnapsackOracle(weights, capacity).solve(costs).solution
    monkeypatch.setattr(weight_counts, "MOST_COMBINATIONS", 0)
    by_program = KnapsackOracle(weights, capacity).solve(costs).solution
    by_model = knapsack_problem(weights, capacity, engine="highs").attempt(costs).solution
    wanted = (costs * by_model).sum(dim=1)
    for found in (by_counts, by_program):
        assert torch.allclose((costs * found).sum(dim=1), wanted, rtol=1e-9)
        assert knapsack_milp(weights, capacity).check(found.numpy()).all()


def test_many_distinct_weights_need_the_dynamic_program():
    weights = np.arange(1, 31)
    oracle = KnapsackOracle(weights, 80)
    assert oracle.counts is None
    costs = -torch.rand(4, 30, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    by_model = knapsack_problem(weights, 80, engine="highs").attempt(costs).solution
    assert torch.allclose((costs * oracle.solve(costs).solution).sum(1), (costs * by_model).sum(1))


@pytest.mark.parametrize("most", [0, 20_000])
def test_a_batch_is_its_rows_in_blocks_of_any_size(most, monkeypatch):
    monkeypatch.setattr(weight_counts, "MOST_COMBINATIONS", most)
    weights, costs = paper_like(9, 1)
    oracle = KnapsackOracle(weights, 60)
    together = oracle.solve(costs).solution
    monkeypatch.setattr(knapsack, "BLOCK_VALUES", 4 * 48 * 61)
    assert torch.equal(oracle.solve(costs).solution, together)
    monkeypatch.setattr(knapsack, "BLOCK_VALUES", 1)
    assert torch.equal(oracle.solve(costs).solution, together)
    assert torch.equal(torch.cat([oracle.solve(row[None]).solution for row in costs]), together)


def test_room_beyond_all_items_costs_nothing(monkeypatch):
    monkeypatch.setattr(weight_counts, "MOST_COMBINATIONS", 0)
    oracle = KnapsackOracle(np.arange(1, 25), 10**15)
    assert oracle.solve(-torch.ones(2, 24)).solution.sum() == 48


def test_single_precision_costs_are_solved_in_double():
    weights, costs = paper_like(3, 2)
    oracle = KnapsackOracle(weights, 60)
    assert oracle.solve(costs.float()).solution.dtype == torch.float64
    assert torch.equal(oracle.solve(costs.float()).solution, oracle.solve(costs.float().double()).solution)


def test_the_problem_maximizes():
    problem = knapsack_problem([3, 4, 5], 7)
    answer = problem.solve([[3.0, 4.0, 6.0], [-1.0, 2.0, -3.0]])
    assert answer.objective.tolist() == [7.0, 2.0]
    assert answer.decision.tolist() == [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    assert (problem.sense, problem.name, problem.dimension) == ("max", "knapsack-7", 3)
    engine = knapsack_problem([3, 4, 5], 7, engine="highs", workers=2, time_limit=5.0)
    assert engine.solve([[3.0, 4.0, 6.0]]).objective.tolist() == [7.0]
    assert engine.fingerprint == problem.fingerprint


@pytest.mark.parametrize(
    ("weights", "capacity", "message"),
    [
        ([1.5, 2.0], 3, "weights must be a vector of positive integers"),
        ([0, 2], 3, "weights"),
        ([-1, 2], 3, "weights"),
        ([], 3, "weights"),
        ([[1, 2]], 3, "weights"),
        ([1.0, np.nan], 3, "weights"),
        ([1, 2], 2.5, "capacity must be an integer, at least 0, got 2.5"),
        ([1, 2], -1, "capacity"),
        ([1, 2], np.inf, "capacity"),
        ([1, 2], np.nan, "capacity"),
    ],
)
def test_fractions_and_negative_numbers_are_refused(weights, capacity, message):
    with pytest.raises(InputError, match=message):
        KnapsackOracle(weights, capacity)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weights", [[3, 5, 7], [1, 2, 3, 4], [2, 3, 4, 5, 6, 7]])
def test_which_of_several_optima_is_found_does_not_depend_on_the_batch(dtype, weights):
    generator = np.random.default_rng(0)
    oracle = KnapsackOracle(generator.choice(weights, 40), 60)
    prices = np.round(generator.random((240, 40)), 1)  # many optima, and no binary fractions
    costs = torch.from_numpy(-prices).to(dtype)
    alone = torch.cat([oracle.solve(one).solution for one in costs.split(1)])
    assert torch.equal(oracle.solve(costs).solution, alone)
    assert torch.equal(torch.cat([oracle.solve(part).solution for part in costs.split(7)]), alone)


def test_the_bound_takes_half_precision():
    costs = torch.tensor([[-4.0, -5.0, -6.0]])
    bound = KnapsackBound([3, 4, 5], 7)
    for dtype in (torch.bfloat16, torch.float16):
        assert bound(costs.to(dtype), None).tolist() == bound(costs, None).tolist()
