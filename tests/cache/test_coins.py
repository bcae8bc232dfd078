from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from regretless.cache.coins import Coins
from regretless.errors import InputError


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
