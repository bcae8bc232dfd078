from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from regretless.cache import SolutionCache

from .killing import Nursery
from .victims import any_problem


def killed_while_saving(victims: Nursery, path: Path, kills: int, seed: int) -> dict[float, int]:
    """Kill a process that does nothing but save, and count which of its two caches is on the disk."""
    chance = random.Random(seed)
    seen = {1.0: 0, 2.0: 0}
    for k in range(kills):
        # the first kill waits for the first save; the rest land anywhere
        victims.kill("cache", path, after=path.exists if k == 0 else chance.uniform(0.02, 0.25))
        rows = SolutionCache.load(path, any_problem()).solutions
        fill = float(rows[0, 1])
        assert torch.equal(rows[:, 0], torch.arange(6000.0))
        assert bool((rows[:, 1:] == fill).all()), "half of one and half of the other"
        seen[fill] += 1
    return seen


def test_a_killed_save_leaves_the_old_or_the_new_cache(victims: Nursery, tmp_path: Path) -> None:
    assert sum(killed_while_saving(victims, tmp_path / "cache", 4, seed=0).values()) == 4


@pytest.mark.slow
def test_a_hundred_killed_saves_leave_the_old_or_the_new_cache(victims: Nursery, tmp_path: Path) -> None:
    seen = killed_while_saving(victims, tmp_path / "cache", 100, seed=1)
    left = len(list(tmp_path.glob(".cache.*.tmp")))
    print(seen, f"kills in the middle of a write: {left}")
    assert sum(seen.values()) == 100
    assert left, "some kills must come in the middle of a write, or nothing is tested"
