from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from regretless.problems.matching import core_mip
from regretless.problems.matching.core_mip import Answer, search, slack
from regretless.problems.matching.formulation import Side
from regretless.problems.matching.lagrangian import assign, best_multiplier, reduced_costs, value
from regretless.types import Status


def best_by_force(gain: np.ndarray, side: Side) -> float:
    best = 0.0
    for order in permutations(range(len(gain))):
        for chosen in np.ndindex(*(2,) * len(gain)):
            partners = np.where(chosen, order, -1)
            if side.holds(*side.counts(partners)):
                best = max(best, value(gain, partners))
    return best


@pytest.mark.parametrize("size", [5, 200])
def test_search_finds_the_optimum_from_nothing(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(core_mip, "CORE", size)
    searched = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        gain, side = rng.random((4, 4)), Side(rng.random((4, 4)) < 0.3, 0.5, 0.5)
        start = assign(gain)
        if side.holds(*side.counts(start)):
            continue
        reduced, most = reduced_costs(best_multiplier(gain, side, start).shifted)
        answer = search(gain, side, reduced, Answer(np.full(4, -1), most), unit=0.0, time_limit=None)
        assert answer.status is Status.OPTIMAL
        assert side.holds(*side.counts(answer.partners))
        assert value(gain, answer.partners) == answer.best == pytest.approx(best_by_force(gain, side), rel=1e-9)
        searched += 1
    assert searched > 3


def test_slack_is_negative_only_where_nothing_better_can_exist() -> None:
    assert slack(10.0, 10.0, 0.0) < 0
    assert slack(10.0, 9.99, 0.0) > 0
    assert slack(10.9, 10.0, 1.0) < 0
    assert slack(11.0, 10.0, 1.0) > 0


def test_among_equal_pairs_every_node_has_its_share() -> None:
    first = core_mip._promising(np.zeros((4, 4)))[:4]
    assert sorted((first // 4).tolist()) == sorted((first % 4).tolist()) == [0, 1, 2, 3]
