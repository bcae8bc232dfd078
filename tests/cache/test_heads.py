from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist

from regretless.cache import SolutionCache
from regretless.cache.heads import Growth, exchange, solve_heads
from regretless.errors import InputError, SolveError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.ranks import Ranks

from .recorders import LIMITS, POINTS, WEIGHTS, Recorder, draw, exact, family, problem

ROWS = [torch.tensor([[1.0, 0.0]]), torch.zeros(0, 2), torch.tensor([[0.0, 1.0], [1.0, 1.0]])]


class Three:
    """Three ranks of which this process plays one; the others' numbers and rows are given."""

    def __init__(self, numbers: list[list[int]], rows: list[torch.Tensor]) -> None:
        self.numbers, self.rows = torch.tensor(numbers), rows

    def gather(self, values: torch.Tensor) -> torch.Tensor:
        return self.numbers

    def gather_rows(self, rows: torch.Tensor, counts: list[int]) -> torch.Tensor:
        assert counts == [len(part) for part in self.rows]
        return torch.cat(self.rows).to(rows.dtype)


def test_solutions_come_in_the_order_of_ranks_and_counts_add_up() -> None:
    ranks: Any = Three([[1, 8, 1, 0, 5, 0], [0, 8, 0, 0, 6, 0], [2, 7, 3, 1, 7, 0]], ROWS)
    joint = exchange(ranks, Growth(ROWS[0], asked=8, solves=1, lookups=5))
    assert joint.rows.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    assert (joint.asked, joint.solves, joint.failed, joint.lookups) == (23, 4, 1, 18)


def test_instances_of_a_family_come_with_their_solutions() -> None:
    ids = [torch.tensor([4]), torch.zeros(0, dtype=torch.int64), torch.tensor([2, 9])]

    class Family(Three):
        def gather_rows(self, rows: torch.Tensor, counts: list[int]) -> torch.Tensor:
            return super().gather_rows(rows, counts) if rows.ndim == 2 else torch.cat(ids)

    for mine, own in zip(ROWS, ids, strict=True):  # a rank without a solution takes part as well
        ranks: Any = Family([[len(rows), 8, 1, 0, 0, 0] for rows in ROWS], ROWS)
        joint = exchange(ranks, Growth(mine, own))
        assert joint.ids is not None
        assert (joint.rows.tolist(), joint.ids.tolist()) == ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [4, 2, 9])


def test_a_rank_that_stops_stops_the_others_with_its_number() -> None:
    ranks: Any = Three([[1, 8, 1, 0, 0, 0], [0, 8, 1, 1, 0, 1], [0, 8, 0, 0, 0, 0]], ROWS)
    with pytest.raises(SolveError, match="a solve failed on rank 1, whose message names the instance"):
        exchange(ranks, Growth(ROWS[0], asked=8, solves=1))
    exchange(ranks, Growth(ROWS[1], asked=8, solves=1, failed=1), stop=True)  # raises its own error itself


@pytest.fixture
def group() -> Iterator[None]:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def cache(**settings: Any) -> SolutionCache:
    problem = Problem(MILP([[1.0, 1.0]], row_lower=1.0))
    return SolutionCache(problem, [[1.0, 0.0], [0.0, 1.0]], **settings)


def test_a_shared_cache_keeps_its_solutions_and_can_be_saved(group: None) -> None:
    shared = cache(p_solve=1.0).share()
    assert shared.solutions.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    shared(torch.tensor([[-1.0, -1.0]]))
    shared.synchronize()
    assert len(shared) == 3
    counts = shared.statistics
    assert (counts.solves, counts.failed, counts.asked, counts.lookups) == (1, 0, 1, 1)
    again = cache(p_solve=1.0).share()
    again.load_state_dict(shared.state_dict())
    assert torch.equal(again.solutions, shared.solutions)
    assert again.statistics == shared.statistics


def test_ranks_that_begin_with_different_solutions_hold_them_in_the_order_of_ranks(group: None) -> None:
    class Second(Ranks):
        """This process as the second of two ranks."""

        def gather_rows(self, rows: torch.Tensor, counts: list[int] | None = None) -> torch.Tensor:
            return torch.cat([torch.tensor([[1.0, 1.0]]), rows])

    assert cache().share(Second()).solutions.tolist() == [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]


def test_the_coins_of_a_shared_cache_continue_from_its_state(group: None) -> None:
    costs = torch.rand(40, 2, generator=torch.Generator().manual_seed(0)) + 0.1
    first = cache(p_solve=0.3, seed=3).share()
    first(costs)
    resumed = cache(p_solve=0.3, seed=3).share()
    resumed.load_state_dict(first.state_dict())
    first(costs)
    resumed(costs)
    assert resumed.statistics.solves == first.statistics.solves


def test_a_state_of_another_number_of_ranks_is_refused() -> None:
    state = cache().state_dict() | {"ranks": 2}
    with pytest.raises(InputError, match="shared by 2 ranks and is held by 1 now"):
        cache().load_state_dict(state)


def test_eviction_by_use_cannot_be_shared(group: None) -> None:
    with pytest.raises(InputError, match="evict='oldest'"):
        cache(capacity=5).share()
    assert cache(capacity=5, evict="oldest").share().store.capacity == 5


def test_several_queries_per_step_need_growth_at_the_prediction(group: None) -> None:
    with cache().share().one_coin():
        pass
    with pytest.raises(InputError, match="needs a shared cache with grow_at='predicted'"):
        cache(grow_at="transformed").share().one_coin().__enter__()


def test_sharing_needs_a_process_group() -> None:
    with pytest.raises(InputError, match="torchrun"):
        cache().share()


POSITIONS = torch.tensor([3, 0])


def test_every_head_is_solved_at_each_of_its_costs_and_nothing_else_is():
    recorder, first, second = Recorder(), draw(5, 4, seed=1), draw(5, 4, seed=2)
    solves = solve_heads(problem(recorder), [first, second], POSITIONS, None, None)
    heads = solves.heads()
    assert torch.equal(torch.cat(recorder.costs), torch.cat([first[POSITIONS], second[POSITIONS]]))
    assert torch.equal(heads.positions, POSITIONS)
    for found, costs in zip(heads.solutions, (first, second), strict=True):
        assert torch.equal(found.float(), exact(costs[POSITIONS]))
    growth = solves.growth(asked=5)
    assert (growth.asked, growth.solves, growth.failed, len(growth.rows)) == (5, 4, 0, 4)


def test_ids_go_with_their_heads():
    ids = torch.tensor([0, 1, 2, 1, 0])
    solves = solve_heads(family(), [draw(5, 4) - 1.0] * 2, POSITIONS, ids, None)
    assert solves.ids.tolist() == [1, 0, 1, 0]
    weight = solves.solved.solution @ torch.tensor(WEIGHTS, dtype=torch.float64)
    assert (weight <= torch.tensor(LIMITS)[solves.ids]).all()


def test_a_head_with_one_failed_solve_has_failed_and_grows_s_by_the_others_only():
    first, second = draw(5, 4, seed=1), draw(5, 4, seed=2)
    second[3, 0] = 200.0
    failing = problem(Recorder(fails=lambda row: row[0] > 100), on_failure="skip")
    solves = solve_heads(failing, [first, second], POSITIONS, None, None)
    assert solves.failed.tolist() == [False, False, True, False]
    assert solves.heads().failed.tolist() == [True, False]
    assert solves.heads().failed_positions.tolist() == [3]
    growth = solves.growth(asked=2)
    assert (growth.solves, growth.failed) == (4, 1)
    assert torch.isfinite(growth.rows).all()
    with pytest.raises(SolveError, match=r"instance 3 of the batch: error.*fails by design"):
        solves.refuse_failures()


def test_without_a_failure_nothing_has_failed():
    solves = solve_heads(problem(Recorder()), [draw(5, 4)], POSITIONS, None, None)
    assert solves.failed is None
    assert solves.heads().failed_positions is None
    assert all(row in POINTS.tolist() for row in solves.growth(asked=5).rows.tolist())
