from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.cache import Bernoulli, Falling, GapAbove, LargestGap, SolutionCache
from regretless.cache.policies import Batch, Coins
from regretless.errors import InputError, RegretlessWarning
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.types import Solved

from .bounds.small_models import small_models

AT = [torch.zeros(2, 3)]
QUERIES = [torch.tensor([[1.0, 0, 0], [4.0, 0, 0]]), torch.tensor([[2.0, 0, 0], [3.0, 0, 0]])]


def view(calls: list[torch.Tensor], found=lambda costs: costs[:, 0].double().numpy()) -> Batch:
    def gaps(costs):
        calls.append(costs)
        return found(costs)

    return Batch(AT, QUERIES, asked=7, gaps_at=gaps)


def test_a_policy_that_needs_no_gaps_computes_none():
    calls: list[torch.Tensor] = []
    batch = view(calls)
    assert (batch.size, batch.asked, calls) == (2, 7, [])


def test_the_gap_of_an_instance_is_the_largest_over_its_cost_vectors():
    calls: list[torch.Tensor] = []
    assert np.array_equal(view(calls).gaps("lookup"), [2.0, 4.0])
    assert np.array_equal(view(calls).gaps("solve"), [0.0, 0.0])
    assert [id(costs) for costs in calls] == [id(costs) for costs in (*QUERIES, *AT)]


def test_without_a_bound_there_are_no_gaps():
    assert view([], lambda costs: None).gaps("lookup") is None


def rank(number: int) -> Any:
    return SimpleNamespace(rank=number, size=2)


def flips(coins: Coins, steps: int, ranks: Any = None) -> list[list[float]]:
    return [coins.of_step(ranks).random(3).tolist() for _ in range(steps)]


def test_without_ranks_one_generator_serves_all_steps():
    generator = np.random.default_rng(5)
    assert flips(Coins(5), 4) == [generator.random(3).tolist() for _ in range(4)]


def test_ranks_have_their_own_coins_which_depend_on_seed_rank_and_step_only():
    first, second = flips(Coins(5), 3, rank(0)), flips(Coins(5), 3, rank(1))
    assert first == flips(Coins(5), 3, rank(0))
    every = [tuple(step) for step in first + second + flips(Coins(6), 3, rank(0))]
    assert len(set(every)) == 9


@pytest.mark.parametrize("ranks", [None, rank(1)])
def test_a_loaded_state_continues_with_the_next_step(ranks: Any):
    coins = Coins(3)
    flips(coins, 2, ranks)
    state = coins.state_dict()
    expected = flips(coins, 3, ranks)
    again = Coins(3)
    again.load_state_dict(state)
    assert flips(again, 3, ranks) == expected


def test_a_negative_seed_is_refused():
    with pytest.raises(InputError, match="seed must be an integer, at least 0, got -1"):
        Coins(-1)


BATCH = 25


@dataclass
class Given:
    """What a policy sees of a batch, as the test sets it."""

    size: int
    asked: int = 0
    by_place: dict[str, np.ndarray] | None = None

    def gaps(self, at: str) -> np.ndarray | None:
        return None if self.by_place is None else self.by_place[at]


def with_gaps(gaps: np.ndarray) -> Given:
    return Given(len(gaps), by_place={"lookup": gaps, "solve": gaps})


def flips_of_policies(p: float, batches: int, seed: int = 0) -> np.ndarray:
    """Heads ``(batches, BATCH)`` of a coin."""
    generator = np.random.default_rng(seed)
    return np.stack([Bernoulli(p).choose(Given(BATCH), generator) for _ in range(batches)])


@pytest.mark.parametrize("p", [0.05, 0.3, 0.9])
def test_the_share_of_heads_over_ten_thousand_coins_is_p(p):
    heads = flips_of_policies(p, 10_000 // BATCH)
    assert heads.size == 10_000
    assert abs(heads.mean() - p) <= 3 * np.sqrt(p * (1 - p) / heads.size)


def test_coins_are_flipped_for_each_instance_not_for_each_batch():
    heads = flips_of_policies(0.5, 400)
    per_batch = heads.sum(axis=1)
    assert not np.isin(per_batch, (0, BATCH)).any()
    # Independent coins: the variance over batches is that of a binomial, not BATCH times it.
    assert per_batch.var() == pytest.approx(BATCH * 0.25, rel=0.3)
    by_position = heads.mean(axis=0)
    assert np.abs(by_position - 0.5).max() <= 4.5 * np.sqrt(0.25 / len(heads))


def test_one_coin_a_batch_solves_all_or_none_as_often():
    policy, chance = Bernoulli(0.3, per="batch"), np.random.default_rng(0)
    masks = np.stack([policy.choose(Given(BATCH), chance) for _ in range(4000)])
    assert set(masks.sum(axis=1).tolist()) == {0, BATCH}
    assert abs(masks.mean() - 0.3) < 4 * np.sqrt(0.3 * 0.7 / 4000)
    with pytest.raises(InputError, match="per must be 'instance' or 'batch', got 'day'"):
        Bernoulli(0.3, per="day")


def test_neighboring_coins_are_independent():
    heads = flips_of_policies(0.5, 400).ravel().astype(float)
    assert abs(np.corrcoef(heads[:-1], heads[1:])[0, 1]) < 4 / np.sqrt(len(heads))


def test_a_sure_coin_never_fails_and_an_impossible_one_never_falls():
    assert flips_of_policies(1.0, 40).all()
    assert not flips_of_policies(0.0, 40).any()


def test_the_seed_decides():
    assert (flips_of_policies(0.5, 4, seed=1) == flips_of_policies(0.5, 4, seed=1)).all()
    assert (flips_of_policies(0.5, 4, seed=1) != flips_of_policies(0.5, 4, seed=2)).any()


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_a_probability_lies_between_0_and_1(p):
    with pytest.raises(InputError, match="p_solve must be between 0 and 1"):
        Bernoulli(p)


def test_another_policy_takes_the_place_of_the_coin():
    class First:
        def choose(self, batch, generator):
            return np.arange(batch.size) == 0

    problem = Problem(oracle=lambda c: (c < 0) * 1.0, dimension=1)
    cache = SolutionCache(problem, [[0.0]], policy=First(), p_solve=1.0)
    cache(torch.tensor([[1.0], [-1.0], [-1.0]]))
    assert problem.statistics.solves == 1


# --- by gap -------------------------------------------------------------------------------------------------------


WEIGHTS = [3.0, 4.0, 5.0, 2.0]
MODEL = MILP([WEIGHTS], row_upper=8.0)


def drawn(batch: int, seed: int) -> torch.Tensor:
    return torch.randn(batch, 4, generator=torch.Generator().manual_seed(seed))


def test_the_largest_gaps_get_the_heads_of_the_coin():
    gaps = np.array([0.1, 0.0, 0.5, 0.3, 0.3])
    for p, expected in ((1.0, [True, False, True, True, True]), (0.0, [False] * 5)):
        assert LargestGap(p).choose(with_gaps(gaps), np.random.default_rng(0)).tolist() == expected
    for seed in range(20):
        heads = int((np.random.default_rng(seed).random(5) < 0.4).sum())
        mask = LargestGap(0.4).choose(with_gaps(gaps), np.random.default_rng(seed))
        order = [2, 3, 4, 0]  # of equal gaps the first; no gap is never solved
        assert set(np.flatnonzero(mask)) == set(order[:heads])


def test_gap_above_takes_what_is_larger_than_epsilon():
    gaps = np.array([0.0, 0.1, 0.2, np.inf])
    assert GapAbove(0.1).choose(with_gaps(gaps), np.random.default_rng(0)).tolist() == [False, False, True, True]
    assert GapAbove().choose(with_gaps(gaps), np.random.default_rng(0)).tolist() == [False, True, True, True]
    with pytest.raises(InputError, match="epsilon must be a finite number, at least 0"):
        GapAbove(-0.1)
    assert GapAbove().p == 0.05


@given(small_models(costs=4), st.sampled_from(["lagrangian", "linear"]), st.booleans())
def test_gap_above_0_always_answers_with_an_optimum(small, bound, maximize):
    points = torch.from_numpy(small.milp.solution(small.decisions))

    class Exact:
        def solve(self, costs, instance=None, *, decision=False):
            return Solved(points[(costs.double() @ points.T).argmin(dim=1)])

    problem = Problem(small.milp, oracle=Exact(), sense="max" if maximize else "min")
    cache = SolutionCache(
        problem, points[:1], policy=GapAbove(0.0), grow_at="transformed", bound=bound, dtype=torch.float64
    )
    costs = torch.from_numpy(small.costs)
    if problem.width > problem.dimension and maximize:
        costs[:, -1] = -1.0
    for _ in range(2):
        answer = cache(costs)
        value, best = (answer * costs).sum(dim=1), (costs @ points.T).min(dim=1).values
        assert (value - best <= 1e-9 * (1.0 + costs.abs().sum(dim=1))).all()


def test_gap_above_0_certifies_every_query_of_an_instance():
    problem = Problem(MODEL)
    cache = SolutionCache(problem, [[0.0] * 4], policy=GapAbove(0.0), grow_at="transformed")
    first, second = drawn(12, 1), drawn(12, 2)
    for query, answer in zip((first, second), cache.answer([first, second], first), strict=True):
        best = (problem(query) * query).sum(dim=1)
        assert torch.allclose((answer * query).sum(dim=1), best, atol=1e-6)


@pytest.mark.parametrize("gap_at", ["lookup", "solve"])
def test_gaps_are_those_of_the_look_up_or_of_the_solve(gap_at):
    solved = []

    class Recorder:
        def solve(self, costs, instance=None, *, decision=False):
            solved.append(costs.clone())
            return Problem(MODEL).attempt(costs)

    problem = Problem(MODEL, oracle=Recorder())
    cache = SolutionCache(problem, [[0.0] * 4], policy=GapAbove(0.0, gap_at=gap_at), grow_at="predicted")
    empty, full = [1.0, 1.0, 1.0, 1.0], [-1.0, 1.0, 1.0, 1.0]  # at the first the empty knapsack is best
    query, predicted = torch.tensor([empty, full]), torch.tensor([full, empty])
    cache.answer([query], predicted)
    assert torch.equal(torch.cat(solved), predicted[1:] if gap_at == "lookup" else predicted[:1])
    with pytest.raises(InputError, match="gap_at must be"):
        GapAbove(0.0, gap_at="home")


def test_without_a_bound_a_coin_decides_and_says_so_once():
    problem = Problem(oracle=lambda c: (c < 0) * 1.0, dimension=1)
    cache = SolutionCache(problem, [[0.0]], policy=LargestGap(0.5))
    with pytest.warns(RegretlessWarning, match="a coin with probability 0.5 decides"):
        cache(torch.zeros(400, 1))
    assert 150 < problem.statistics.solves < 250
    cache(torch.zeros(4, 1))  # a second warning would be an error here
    with pytest.raises(InputError, match="gaps need a bound"):
        cache.gaps(torch.zeros(4, 1))


@pytest.mark.parametrize("gap_at", ["lookup", "solve"])
def test_a_policy_by_gap_uses_the_gaps_at_its_own_place(gap_at):
    by_place = {"lookup": np.array([0.5, 0.0]), "solve": np.array([0.0, 0.5])}
    expected = [True, False] if gap_at == "lookup" else [False, True]
    falling = Falling(1.0, 1.0, epochs=1, instances=1, gap_at=gap_at)
    for policy in (LargestGap(1.0, gap_at=gap_at), GapAbove(0.1, gap_at=gap_at), falling):
        assert policy.choose(Given(2, by_place=by_place), np.random.default_rng(0)).tolist() == expected


def test_a_coin_needs_no_gaps():
    class NoGaps(Given):
        def gaps(self, at):
            raise AssertionError("gaps were computed")

    for policy in (Bernoulli(0.5), Bernoulli(0.5, per="batch"), Falling(0.5, 0.1, epochs=1, instances=9, coin=True)):
        assert policy.choose(NoGaps(BATCH), np.random.default_rng(0)).shape == (BATCH,)


@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
def test_the_cache_shows_a_policy_size_count_and_gaps_of_every_batch(grow_at):
    seen = []

    class Spy:
        def choose(self, batch, generator):
            seen.append((batch.size, batch.asked, batch.gaps("lookup"), batch.gaps("solve")))
            return np.zeros(batch.size, dtype=bool)

    cache = SolutionCache(Problem(MODEL), [[0.0] * 4], policy=Spy(), grow_at=grow_at)
    first, second, predicted = drawn(3, 1), drawn(3, 2), drawn(3, 3)
    cache.answer([first, second], predicted)
    cache.answer([first[:2]], predicted[:2])
    largest = torch.maximum(cache.gaps(first), cache.gaps(second)).numpy()
    assert [(size, asked) for size, asked, *_ in seen] == [(3, 0), (2, 3)]
    assert np.array_equal(seen[0][2], largest), "of several queries the largest gap counts"
    assert np.array_equal(seen[0][3], largest if grow_at == "transformed" else cache.gaps(predicted).numpy())


def test_p_falls_geometrically_and_then_stays():
    falling = Falling(0.4, 0.1, epochs=2, instances=100)
    assert [falling.at(n) for n in (0, 100, 200, 900)] == pytest.approx([0.4, 0.2, 0.1, 0.1])
    for coin in (True, False):
        problem = Problem(MODEL)
        policy = Falling(1.0, 1e-9, epochs=1, instances=20, coin=coin)
        cache = SolutionCache(problem, [[0.0] * 4], policy=policy)
        cache(drawn(20, 1))
        solved = problem.statistics.solves
        assert solved > 10
        cache(drawn(20, 2))
        assert problem.statistics.solves == solved


@pytest.mark.parametrize(("first", "last"), [(0.1, 0.2), (0.1, 0.0)])
def test_p_does_not_rise_and_does_not_fall_to_nothing(first, last):
    with pytest.raises(InputError, match="first >= last > 0"):
        Falling(first, last, epochs=1, instances=1)
    with pytest.raises(InputError, match="epochs must be a finite number above 0"):
        Falling(0.2, 0.1, epochs=0, instances=1)


@pytest.mark.parametrize(("policy", "got"), [("gap-above", "'gap-above'"), (GapAbove, "the class GapAbove")])
def test_a_name_or_a_class_is_no_policy_of_a_cache(policy, got):
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=2)
    with pytest.raises(InputError, match=f"policy must be an object with choose.*, got {got}"):
        SolutionCache(problem, policy=policy)


@pytest.mark.parametrize("chosen", [np.arange(3), np.ones(2, dtype=bool), np.ones(4, dtype=bool), [0.5, 0.5, 0.5]])
def test_positions_and_masks_of_another_length_are_refused(chosen):
    class Own:
        def choose(self, batch, generator):
            return chosen

    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=2)
    cache = SolutionCache(problem, torch.eye(2), policy=Own())
    with pytest.raises(InputError, match=r"Own.choose must return a mask, 3 booleans, got .* values of shape"):
        cache(torch.rand(3, 2))


def test_a_mask_may_be_a_list_or_a_tensor():
    class Own:
        def choose(self, batch, generator):
            return [True, False, True] if cache.statistics.solves == 0 else torch.ones(3, dtype=torch.bool)

    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=2)
    cache = SolutionCache(problem, torch.eye(2), policy=Own())
    cache(torch.rand(3, 2))
    cache(torch.rand(3, 2))
    assert cache.statistics.solves == 5


@pytest.mark.parametrize("epsilon", ["a", float("inf"), True])
def test_a_largest_gap_that_is_no_number_is_refused(epsilon):
    with pytest.raises(InputError, match="epsilon must be a finite number, at least 0"):
        GapAbove(epsilon)
