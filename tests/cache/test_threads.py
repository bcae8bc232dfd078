"""Several threads share one cache: no member is lost, doubled or half written."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import numpy as np
import pytest
import torch

from regretless import MILP, Family, Problem
from regretless.cache import SolutionCache

WIDTH, CHOSEN, THREADS, STEPS, BATCH = 12, 5, 4, 60, 16


def cheapest(costs: np.ndarray) -> np.ndarray:
    chosen = np.zeros_like(costs)
    np.put_along_axis(chosen, np.argsort(costs, axis=-1, kind="stable")[..., :CHOSEN], 1.0, axis=-1)
    return chosen


def cache_of(**settings: object) -> SolutionCache:
    problem = Problem(oracle=cheapest, dimension=WIDTH)
    first = cheapest(np.arange(float(WIDTH))[None])
    return SolutionCache(problem, first, p_solve=0.5, dtype=torch.float64, **settings)  # type: ignore[arg-type]


def batches(seed: int) -> Iterator[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    for _ in range(STEPS):
        yield torch.randn(BATCH, WIDTH, generator=generator, dtype=torch.float64)


@pytest.fixture(autouse=True)
def many_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("capacity", [None, 40])
@pytest.mark.parametrize("way", ["answer", "add", "one_coin"])
def test_answers_are_members_and_members_are_whole_and_different(way: str, capacity: int | None) -> None:
    cache, given = cache_of(capacity=capacity), set[tuple[float, ...]]()

    def work(seed: int) -> None:
        for costs in batches(seed):
            if way == "add":
                rows = torch.as_tensor(cheapest(costs.numpy()))
                given.update(map(tuple, rows.tolist()))
                cache.add(rows)
                found = cache.look_up([costs])[0]
            elif way == "one_coin":
                with cache.one_coin():
                    cache(costs)
                    found = cache(costs + 0.1)
            else:
                found = cache(costs)
            assert ((found == 0) | (found == 1)).all()
            assert (found.sum(dim=1) == CHOSEN).all()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    rows = cache.solutions
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)
    assert (rows.sum(dim=1) == CHOSEN).all()
    np.testing.assert_allclose(cache.store.mean(), rows.mean(dim=0), atol=1e-12)
    if capacity is None:
        assert given <= {tuple(row) for row in rows.tolist()}
    if way == "answer":
        assert cache.statistics.asked == cache.statistics.lookups == THREADS * STEPS * BATCH
        assert cache.statistics.solves == cache.problem.statistics.solves


class Meanwhile:
    """A lock before which something else happens."""

    def __init__(self, lock: AbstractContextManager[object], event: Callable[[], object]) -> None:
        self.lock, self.event = lock, event

    def __enter__(self) -> None:
        self.event()
        self.lock.__enter__()

    def __exit__(self, *error: object) -> None:
        self.lock.__exit__(None, None, None)


def test_what_another_thread_replaces_in_a_cache_that_is_merged_is_not_taken_for_what_it_was() -> None:
    problem = Problem(Family([MILP(np.ones((1, 3)), row_upper=most) for most in (1.0, 3.0)]))
    cache, other = (SolutionCache(problem, capacity=size, p_solve=0.0) for size in (None, 1))
    cache.add([[1.0, 0.0, 0.0]], [0])
    other.add([[1.0, 1.0, 1.0]], [1])
    cache._growing.lock = Meanwhile(cache.lock, lambda: other.add([[0.0, 1.0, 0.0]], [0]))  # type: ignore[assignment]
    cache.merge(other)
    assert cache.look_up([-torch.ones(1, 3)], torch.tensor([0]))[0].tolist() == [[1.0, 0.0, 0.0]]
    assert cache.look_up([-torch.ones(1, 3)], torch.tensor([1]))[0].tolist() == [[1.0, 1.0, 1.0]]


def test_columns_for_a_graph_are_filled_up_while_no_other_thread_writes_them() -> None:
    cache, entered = cache_of(grow_at="predicted"), list[bool]()
    cache._growing.lock = Meanwhile(cache.lock, lambda: entered.append(True))  # type: ignore[assignment]
    assert cache.frozen_lookup(torch.zeros(BATCH, WIDTH, dtype=torch.float64)) is not None
    assert entered


def test_a_copy_of_a_cache_has_a_lock_of_its_own() -> None:
    cache = cache_of()
    with cache.lock:
        for other in (copy.deepcopy(cache), cache):
            assert len(other) == 1
    cache.problem = Problem(oracle=min, dimension=WIDTH)  # a function that pickle finds
    cache._growing.problem = cache.problem
    other = pickle.loads(pickle.dumps(cache))
    assert other.lock is not cache.lock
    assert other.store is other._growing.store
