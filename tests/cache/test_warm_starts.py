from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.cache import SolutionCache
from regretless.cache.warm_starts import WarmStarts
from regretless.errors import InputError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.solvers.highs import HighsEngine
from regretless.types import Solved, Status

COSTS = torch.tensor([[1.0, 2.0], [2.0, 1.0]])


def solved(rows: list[list[float]], decisions: list[list[float]], failed: tuple[int, ...] = ()) -> Solved:
    solution = torch.tensor(rows, dtype=torch.float64)
    status = None
    if failed:
        solution[list(failed)] = torch.nan
        status = [Status.ERROR if row in failed else Status.OPTIMAL for row in range(len(rows))]
    return Solved(solution, status, decision=torch.tensor(decisions, dtype=torch.float64))


def test_the_best_decision_at_each_cost_is_handed_out():
    starts = WarmStarts(2, 3)
    assert starts.best(COSTS, None) == [None, None]
    starts.add(solved([[1.0, 0.0], [0.0, 1.0]], [[1, 0, 5], [0, 1, 6]]), None)
    first, second = starts.best(COSTS, None)
    assert first.tolist() == [1, 0, 5]
    assert second.tolist() == [0, 1, 6]


def test_an_instance_gets_only_its_own_decisions():
    starts = WarmStarts(2, 2)
    starts.add(solved([[1.0, 0.0], [0.0, 1.0]], [[1, 0], [0, 1]]), torch.tensor([0, 2]))
    first, second = starts.best(COSTS, torch.tensor([2, 1]))
    assert first.tolist() == [0, 1]
    assert second is None


def test_failures_are_not_kept_and_the_oldest_goes_first():
    starts = WarmStarts(2, 1, capacity=2)
    starts.add(solved([[1.0, 0.0], [9.0, 9.0]], [[1], [2]], failed=(1,)), None)
    assert len(starts) == 1
    starts.add(solved([[0.0, 1.0]], [[3]]), None)
    starts.add(solved([[1.0, 0.0]], [[4]]), None)  # known, and new again
    starts.add(solved([[1.0, 1.0]], [[5]]), None)
    assert [x.tolist() for x in starts.best(COSTS, None)] == [[4], [4]]
    assert len(starts) == 2
    twice = WarmStarts(2, 1)
    twice.add(solved([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]], [[6], [7], [8]]), None)
    assert [x.tolist() for x in twice.best(COSTS, None)] == [[8], [6]]


def test_a_state_that_does_not_fit_is_refused():
    starts = WarmStarts(2, 1)
    starts.add(solved([[1.0, 0.0]], [[1]]), None)
    state = starts.state_dict()
    again = WarmStarts(2, 1)
    again.load_state_dict(state)
    assert again.best(COSTS, None)[0].tolist() == [1]
    for wrong in ({"decisions": torch.ones(2, 1)}, {"decisions": torch.ones(1, 2)}, {"solutions": torch.ones(1, 3)},
                  {"instances": torch.zeros(1, 1)}, {"instances": torch.tensor(0)},
                  {"decisions": torch.full((1, 1), torch.nan)}):  # fmt: skip
        with pytest.raises(InputError, match="do not fit its problem or each other"):
            again.load_state_dict(state | wrong)


def make(**settings) -> SolutionCache:
    chance = np.random.default_rng(0)
    milp = MILP(chance.integers(1, 9, (3, 12)).astype(float), row_upper=20.0)
    return SolutionCache(Problem(milp, sense="max"), p_solve=0.5, **settings)


def test_warm_started_solves_are_optimal_and_start_from_what_was_found(monkeypatch):
    seen = []
    plain = HighsEngine.solve

    def watched(self, objective, start=None):
        seen.append((objective, start))
        return plain(self, objective, start)

    monkeypatch.setattr(HighsEngine, "solve", watched)
    warm, cold = make(warm_start=True, grow_at="transformed"), make(grow_at="transformed")
    chance = torch.Generator().manual_seed(0)
    for cache in (warm, cold):
        cache.add(torch.zeros(1, 12))
    for _ in range(6):
        costs = -torch.rand(8, 12, generator=chance, dtype=torch.float64)
        found = [(costs * cache(costs)).sum(dim=1) for cache in (warm, cold)]
        assert torch.allclose(*found)
    starts = [start for _, start in seen if start is not None]
    assert starts, "later solves start from earlier ones"
    assert warm.problem.model.check(np.stack(starts)).all()


def test_a_cache_that_was_saved_goes_on_from_the_same_starts(tmp_path):
    first = make(warm_start=True)
    first.add(torch.zeros(1, 12))
    costs = -torch.rand(8, 12, generator=torch.Generator().manual_seed(1))
    first(costs)
    first.save(tmp_path / "cache.safetensors")
    second = SolutionCache.load(tmp_path / "cache.safetensors", first.problem, p_solve=0.5, warm_start=True)
    more = -torch.rand(8, 12, generator=torch.Generator().manual_seed(2))
    assert torch.equal(first(more), second(more))
    assert torch.equal(first.solutions, second.solutions)


def test_an_oracle_of_its_own_takes_no_start():
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=2)
    with pytest.raises(InputError, match="warm_start=True needs an engine"):
        SolutionCache(problem, warm_start=True)
