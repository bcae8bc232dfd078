from __future__ import annotations

import numpy as np
import pytest

from regretless.problems.energy import Instance, branching
from regretless.problems.energy.branching import Options, search
from regretless.problems.energy.conflicts import Conflicts
from regretless.problems.energy.packing import TooHardError
from regretless.types import Status


def options(instance: Instance, seed: int = 0) -> list[Options]:
    # Evening prices far above the rest: all tasks want the first slots, where they do not pack.
    prices = np.arange(12.0) ** 2 + np.random.default_rng(seed).random(12)
    return [sorted((float(prices[s : s + t.duration].sum()), s) for s in t.starts) for t in instance.tasks]


def cost(choices: list[Options], starts: tuple[int, ...]) -> float:
    return sum(price for choice, start in zip(choices, starts, strict=True) for price, s in choice if s == start)


def test_the_first_schedule_that_packs_is_optimal_and_packs(crowded: Instance) -> None:
    conflicts, choices = Conflicts(crowded), options(crowded)
    assert conflicts.find(tuple(choice[0][1] for choice in choices)), "the cheapest starts must not pack here"
    found = search(conflicts, choices)
    assert found.status is Status.OPTIMAL
    assert found.starts is not None
    assert not conflicts.find(found.starts)


def test_beyond_its_budget_the_search_gives_up(monkeypatch: pytest.MonkeyPatch, crowded: Instance) -> None:
    monkeypatch.setattr(branching, "NODES", 1)
    with pytest.raises(TooHardError):
        search(Conflicts(crowded), options(crowded))


def test_after_the_time_limit_any_schedule_is_returned_with_its_gap(crowded: Instance) -> None:
    conflicts, choices = Conflicts(crowded), options(crowded)
    best = search(conflicts, choices)
    found = search(conflicts, choices, time_limit=1e-9)
    assert found.status is Status.TIME_LIMIT
    assert found.starts is not None
    assert best.starts is not None
    assert not conflicts.find(found.starts)
    excess = cost(choices, found.starts) - cost(choices, best.starts)
    assert 0 <= excess <= found.gap * cost(choices, found.starts) + 1e-9
