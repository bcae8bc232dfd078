from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.cache import Bernoulli, SolutionCache
from regretless.errors import InputError
from regretless.problem import Problem

BATCH = 25


def flips(p: float, batches: int, seed: int = 0) -> np.ndarray:
    """Heads ``(batches, BATCH)`` of a coin."""
    problem = Problem(oracle=lambda c: (c < 0) * 1.0, dimension=1)
    cache = SolutionCache(problem, [[0.0]], p_solve=p, seed=seed)
    costs = torch.zeros(BATCH, 1)
    return np.stack([cache.policy.choose(cache, costs, None, cache._generator) for _ in range(batches)])


@pytest.mark.parametrize("p", [0.05, 0.3, 0.9])
def test_the_share_of_heads_over_ten_thousand_coins_is_p(p):
    heads = flips(p, 10_000 // BATCH)
    assert heads.size == 10_000
    assert abs(heads.mean() - p) <= 3 * np.sqrt(p * (1 - p) / heads.size)


def test_coins_are_flipped_for_each_instance_not_for_each_batch():
    heads = flips(0.5, 400)
    per_batch = heads.sum(axis=1)
    assert not np.isin(per_batch, (0, BATCH)).any()
    # Independent coins: the variance over batches is that of a binomial, not BATCH times it.
    assert per_batch.var() == pytest.approx(BATCH * 0.25, rel=0.3)
    by_position = heads.mean(axis=0)
    assert np.abs(by_position - 0.5).max() <= 4.5 * np.sqrt(0.25 / len(heads))


def test_neighbouring_coins_are_independent():
    heads = flips(0.5, 400).ravel().astype(float)
    assert abs(np.corrcoef(heads[:-1], heads[1:])[0, 1]) < 4 / np.sqrt(len(heads))


def test_a_sure_coin_never_fails_and_an_impossible_one_never_falls():
    assert flips(1.0, 40).all()
    assert not flips(0.0, 40).any()


def test_the_seed_decides():
    assert (flips(0.5, 4, seed=1) == flips(0.5, 4, seed=1)).all()
    assert (flips(0.5, 4, seed=1) != flips(0.5, 4, seed=2)).any()


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_a_probability_lies_between_0_and_1(p):
    with pytest.raises(InputError, match="p_solve must be between 0 and 1"):
        Bernoulli(p)


def test_another_policy_takes_the_place_of_the_coin():
    class First:
        def choose(self, cache, costs, instance, generator):
            return np.arange(len(costs)) == 0

    problem = Problem(oracle=lambda c: (c < 0) * 1.0, dimension=1)
    cache = SolutionCache(problem, [[0.0]], policy=First(), p_solve=1.0)
    cache(torch.tensor([[1.0], [-1.0], [-1.0]]))
    assert problem.statistics.solves == 1
