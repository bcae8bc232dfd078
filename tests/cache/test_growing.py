from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.cache import SolutionCache
from regretless.errors import InputError, SolveError

from .recorders import POINTS, Raiser, Recorder, Scripted, draw, exact, problem


def test_raise_names_the_row_of_the_batch_and_keeps_nothing():
    failing = Recorder(fails=lambda row: row[0] > 100)
    costs = draw(5, 4)
    costs[3, 0] = 200.0
    cache = SolutionCache(
        problem(failing), POINTS[:1], grow_at="transformed", policy=Scripted([False, True, False, True, True])
    )
    with pytest.raises(SolveError, match=r"instance 3 of the batch: error.*fails by design"):
        cache(costs)
    assert len(cache) == 1


@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
@pytest.mark.parametrize("on_failure", ["cache", "skip"])
def test_failed_solves_are_looked_up_or_left_out_and_never_cached(grow_at, on_failure):
    recorder = Recorder(fails=lambda row: row[0] > 100)
    cache = SolutionCache(problem(recorder, on_failure=on_failure), POINTS[:2], p_solve=1.0, grow_at=grow_at)
    costs = draw(6, 4)
    costs[[1, 4], 0] = 200.0
    answer = cache(costs)
    assert torch.isfinite(cache.solutions).all()
    assert (cache.statistics.solves, cache.statistics.failed) == (6, 2)
    assert cache.statistics.added + cache.statistics.hits == 4
    good = torch.tensor([0, 2, 3, 5])
    assert torch.equal(answer[good], exact(costs)[good])
    if on_failure == "skip":
        assert torch.isnan(answer[[1, 4]]).all()
    else:
        assert torch.equal(answer[[1, 4]], exact(costs[[1, 4]], cache.solutions))


def test_one_failed_solve_of_two_makes_both_a_lookup():
    recorder = Recorder(fails=lambda row: row[0] > 100)
    first, second = draw(2, 4, seed=1), draw(2, 4, seed=2)
    second[1, 0] = 200.0
    cache = SolutionCache(problem(recorder, on_failure="cache"), POINTS[:1], p_solve=1.0, grow_at="transformed")
    a, b = cache.answer([first, second], first)
    assert torch.equal(a[1], exact(first, cache.solutions)[1])
    assert torch.equal(b[1], exact(second, cache.solutions)[1])
    cache = SolutionCache(problem(recorder, on_failure="skip"), POINTS[:1], p_solve=1.0, grow_at="transformed")
    a, b = cache.answer([first, second], first)
    assert torch.isnan(a[1]).all()
    assert torch.isnan(b[1]).all()
    assert torch.equal(a[0], exact(first)[0])


@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
def test_when_all_solves_fail_skip_leaves_all_out_and_cache_has_nothing(grow_at):
    def empty(on_failure: str) -> SolutionCache:
        failing = Recorder(fails=lambda row: True)
        return SolutionCache(problem(failing, on_failure=on_failure), p_solve=1.0, grow_at=grow_at)

    assert torch.isnan(empty("skip")(draw(2, 4))).all()
    with pytest.raises((SolveError, InputError), match="empty"):
        empty("cache")(draw(2, 4))


def test_growing_returns_the_positions_of_failed_solves():
    recorder = Recorder(fails=lambda row: row[0] > 100)
    cache = SolutionCache(problem(recorder, on_failure="cache"), POINTS[:1], p_solve=1.0)
    costs = draw(4, 4)
    assert cache.grow([costs], costs) is None
    costs[2, 0] = 200.0
    assert cache.grow([costs], costs).tolist() == [2]
    assert SolutionCache(problem(Raiser()), p_solve=0.0).grow([costs], costs) is None


def test_costs_that_are_no_numbers_never_reach_the_cache():
    cache = SolutionCache(problem(Recorder()), POINTS[:1], p_solve=1.0)
    with pytest.raises(InputError, match="finite"):
        cache(torch.tensor([[1.0, float("nan"), 0.0, 0.0]]))
    assert len(cache) == 1


@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
def test_one_coin_serves_all_queries_of_a_block(grow_at):
    recorder = Recorder()
    cache = SolutionCache(problem(recorder), POINTS, p_solve=0.5, seed=1, grow_at=grow_at)
    at, first, second = (draw(8, 4, seed=seed) for seed in range(3))
    with cache.one_coin():
        cache.answer([first], at)
        cache.answer([second], at)
    heads = np.random.default_rng(1).random(8) < 0.5
    solved = [at] if grow_at == "predicted" else [first, second]
    assert 0 < heads.sum() < 8
    assert [costs.tolist() for costs in recorder.costs] == [costs[heads].tolist() for costs in solved]
    assert cache.statistics.asked == 8
    recorder.costs.clear()
    cache.answer([first], at)  # after the block the coin is flipped again
    assert cache.statistics.asked == 16


def test_a_policy_sees_the_batch_and_how_many_instances_came_before():
    seen = []

    class Spy:
        def choose(self, batch, generator):
            seen.append((batch.size, batch.asked))
            return np.zeros(batch.size, dtype=bool)

    cache = SolutionCache(problem(Recorder()), POINTS[:1], policy=Spy())
    for size in (3, 2):
        cache(draw(size, 4))
    assert seen == [(3, 0), (2, 3)]


def test_the_bound_learns_from_steps_without_a_failure():
    def learned(**settings) -> int:
        cache = SolutionCache(problem(Recorder(**settings), on_failure="skip"), p_solve=1.0, bound="lagrangian")
        cache(draw(6, 4))
        return len(cache.bound.member().multipliers)

    assert learned() > 1
    assert learned(fails=lambda row: row[0] > 0) == 1
