"""The look-up in blocks finds what one pass over all solutions finds."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.cache import SolutionStore, lookup
from regretless.cache.lookup import CpuLookup, StoreLookup, best_columns, best_of_first
from regretless.cache.store_arrays import ALIGNED, Columns
from regretless.errors import InputError


@given(
    size=st.integers(1, 40),
    batch=st.integers(1, 5),
    budget=st.integers(1, 60),
    all_serve=st.booleans(),
    seed=st.integers(0),
)
def test_blocks_find_what_one_pass_finds(size, batch, budget, all_serve, seed):
    generator = torch.Generator().manual_seed(seed % 2**63)
    rows, costs = torch.randn(size, 3, generator=generator), torch.randn(batch, 3, generator=generator)
    serves = torch.rand(2, size, generator=generator) < 0.6
    instance = torch.randint(0, 2, (batch,), generator=generator)
    mask = torch.ones(batch, size, dtype=torch.bool) if all_serve else serves[instance]
    expected = (costs.double() @ rows.double().T).masked_fill(~mask, torch.inf).min(dim=1).values
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "BLOCK_SCORES", budget)
        family = {} if all_serve else {"serves": serves, "instance": instance}
        score, position = best_columns(rows.T.contiguous(), costs, **family)
    torch.testing.assert_close(score.double(), expected, rtol=1e-5, atol=1e-6)
    found = torch.isfinite(expected)
    mine = (costs.double() * rows.double()[position]).sum(dim=1)
    torch.testing.assert_close(mine[found], expected[found], rtol=1e-5, atol=1e-6)
    assert bool(mask[torch.arange(batch), position][found].all())


@given(batch=st.integers(1, 20), per_block=st.integers(1, 6), seed=st.integers(0, 99))
def test_a_large_batch_is_its_parts(batch, per_block, seed):
    generator = torch.Generator().manual_seed(seed)
    columns, costs = torch.randn(3, 15, generator=generator), torch.randn(batch, 3, generator=generator)
    serves = torch.rand(2, 15, generator=generator) < 0.5
    family = {"serves": serves, "instance": torch.arange(batch) % 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "BLOCK_COSTS", per_block)
        found = [best_columns(columns, costs), best_columns(columns, costs, **family)]
    for mine, its in zip(found, [best_columns(columns, costs), best_columns(columns, costs, **family)], strict=True):
        assert torch.allclose(mine[0], its[0])
        assert torch.equal(mine[1][torch.isfinite(its[0])], its[1][torch.isfinite(its[0])])


@pytest.mark.parametrize("budget", [2, 4, 1000])
def test_ties_go_to_the_first_across_blocks_too(monkeypatch, budget):
    monkeypatch.setattr(lookup, "BLOCK_SCORES", budget)
    columns = torch.tensor([[3.0, 1.0, 2.0, 1.0, 1.0]])
    score, position = best_columns(columns, torch.tensor([[1.0], [-1.0]]))
    assert score.tolist() == [1.0, -3.0]
    assert position.tolist() == [1, 0]


def test_the_memory_layout_of_the_columns_changes_no_answer():
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(-3, 4, (200, 5), generator=generator).float()
    costs = torch.randint(-3, 4, (7, 5), generator=generator).float()
    by_column, by_row = rows.T.contiguous(), rows.T
    for mine, its in zip(best_columns(by_column, costs), best_columns(by_row, costs), strict=True):
        assert torch.equal(mine, its)


def test_an_objective_that_is_not_linear_is_scored_in_blocks_too(monkeypatch):
    rows, costs = torch.randn(30, 2), torch.randn(4, 2)

    def distance(solutions, at):
        return (solutions - at).square().sum(dim=-1)

    expected = distance(rows[None], costs[:, None]).argmin(dim=1)
    monkeypatch.setattr(lookup, "BLOCK_SCORES", 20)
    assert torch.equal(best_columns(rows.T.contiguous(), costs, objective=distance)[1], expected)


@given(size=st.integers(1, 40), more=st.integers(0, 20), rounded=st.integers(1, 30), budget=st.sampled_from([1, 10**6]))
def test_columns_behind_the_first_do_not_count(size, more, rounded, budget):
    generator = torch.Generator().manual_seed(size)
    columns, costs = torch.randn(3, size + more, generator=generator), torch.randn(5, 3, generator=generator)
    columns[:, size:] *= 100
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "ROUNDED", rounded)
        patch.setattr(lookup, "BLOCK_SCORES_GPU", budget)
        found = best_of_first(columns, size, costs)
    scores = costs.double() @ columns[:, :size].double()
    torch.testing.assert_close(scores.gather(1, found[:, None])[:, 0], scores.min(dim=1).values, rtol=1e-6, atol=1e-6)


def columns_of(rows: torch.Tensor, reserve: int = 0) -> Columns:
    columns = Columns(rows.shape[1], rows.dtype)
    columns.reserve(max(reserve, len(rows)))
    columns.put(rows, slice(0, len(rows)))
    return columns


@given(
    size=st.integers(1, 40),
    batch=st.integers(1, 20),
    few=st.integers(1, 9),
    reserve=st.integers(0, 70),
    exact=st.booleans(),
)
def test_the_fast_way_on_a_cpu_finds_what_one_pass_finds_or_leaves_it(size, batch, few, reserve, exact):
    generator = torch.Generator().manual_seed(size)
    rows, costs = torch.randn(size, 3, generator=generator), torch.randn(batch, 3, generator=generator)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "BLOCK_COSTS", few)
        patch.setattr(lookup, "SMALL_BLOCK", 60)
        patch.setattr(lookup, "BLOCK_SCORES", 200)
        columns = columns_of(rows, reserve)
        found = CpuLookup().first(columns, size, costs, exact=exact)
        blocks = best_columns(rows.T.contiguous(), costs)[1]
    if found is None:
        wide = size if exact else -(-size // ALIGNED) * ALIGNED
        assert min(batch, max(few, 60 // wide)) * wide > 200
        found = blocks
    scores = costs.double() @ rows.double().T
    for position in (found, blocks):
        torch.testing.assert_close(
            scores.gather(1, position[:, None])[:, 0], scores.min(dim=1).values, rtol=1e-6, atol=1e-6
        )


@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=12),
    batches=st.lists(st.sampled_from([1, 2, 5]), min_size=12, max_size=12),
    seed=st.integers(0, 99),
)
def test_a_repeated_look_up_sees_what_has_joined_since(sizes, batches, seed):
    generator = torch.Generator().manual_seed(seed)
    store = SolutionStore(4)
    for size, batch in zip(sizes, batches, strict=False):
        store.stage(torch.randn(size, 4, generator=generator))
        for _ in range(2):
            costs = torch.randn(batch, 4, generator=generator)
            found = store.take(store.look_up(costs))
            best = (costs @ store._columns.first(store.columns_searched)).min(dim=1).values
            torch.testing.assert_close((costs * found).sum(1), best)


def test_only_a_look_up_like_the_last_one_is_repeated():
    columns, costs = columns_of(torch.eye(3), 40), torch.ones(2, 3)
    look_up = CpuLookup()
    assert look_up.again(columns.reserved, 3, costs) is None
    first = look_up.first(columns, 3, costs, exact=False)
    again = look_up.again(columns.reserved, 16, costs)
    assert torch.equal(first, torch.zeros(2, dtype=torch.int64))
    assert torch.equal(again, first)
    other = columns_of(torch.eye(3), 40)
    for reserved, searched, given_costs in (
        (other.reserved, 3, costs),
        (columns.reserved, 0, costs),
        (columns.reserved, 17, costs),
        (columns.reserved, 3, torch.ones(3, 3)),
        (columns.reserved, 3, torch.ones(3, 2)),
        (columns.reserved, 3, costs.double()),
        (columns.reserved, 3, costs.clone().requires_grad_()),
    ):
        assert look_up.again(reserved, searched, given_costs) is None
    assert look_up.again(columns.reserved, 3, costs) is not None
    look_up.first(columns, 3, costs, exact=True)
    assert look_up.again(columns.reserved, 3, costs) is None


def test_positions_hold_until_the_next_look_up_and_solutions_for_good():
    store = SolutionStore(3)
    store.add(torch.eye(3))
    costs = -torch.eye(3)
    solutions, positions = store.best(costs[:2]), store.look_up(costs[:2])
    assert positions.tolist() == [0, 1]
    assert store.look_up(costs[1:]).data_ptr() == positions.data_ptr()
    assert store.look_up(costs).tolist() == [0, 1, 2]
    assert store.best(costs[1:]).tolist() == costs[1:].neg().tolist()
    assert solutions.tolist() == costs[:2].neg().tolist()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda store: pickle.loads(pickle.dumps(store))])
def test_a_copy_of_a_store_shares_no_memory_with_it(copied):
    store = SolutionStore(3)
    store.add(torch.eye(3)[:2])
    costs = -torch.eye(3)
    store.best(costs)
    other = copied(store)
    other.add(torch.eye(3)[2:])
    assert other.best(costs).tolist() == torch.eye(3).tolist()
    store.add(torch.full((1, 3), 2.0))
    assert store.best(costs).tolist() == [[2.0] * 3] * 3
    assert other.best(costs).tolist() == torch.eye(3).tolist()


def test_ties_go_to_the_first_on_every_way(monkeypatch):
    for few in (2, 9):
        monkeypatch.setattr(lookup, "BLOCK_COSTS", few)
        monkeypatch.setattr(lookup, "SMALL_BLOCK", 1)
        found = CpuLookup().first(columns_of(torch.ones(6, 2)), 6, torch.ones(5, 2), exact=True)
        assert found is not None
        assert found.tolist() == [0] * 5


def test_the_memory_of_scores_may_be_used_in_any_mode_and_is_not_copied():
    columns, costs, look_up = columns_of(torch.eye(3)), -torch.eye(3)[:2], CpuLookup()
    with torch.inference_mode():
        assert look_up.first(columns, 3, costs, exact=False).tolist() == [0, 1]
    assert look_up.again(columns.reserved, 3, costs).tolist() == [0, 1]  # a tensor of that mode could not be written to
    with torch.autocast("cpu"):
        assert look_up.again(columns.reserved, 3, costs).tolist() == [0, 1]
    copied = pickle.loads(pickle.dumps(look_up))
    assert copied.again(columns.reserved, 3, costs) is None


def test_autocast_confuses_no_solutions_on_a_cpu():
    rows = torch.tensor([[1.0, 1.0], [1.0, 1.0 + 2**-12]])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = CpuLookup().first(columns_of(rows), 2, torch.tensor([[1.0, -1.0]]), exact=True)
    assert found.tolist() == [1]


def test_infinite_costs_give_a_position_and_no_warning(recwarn):
    rows, costs = torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([[torch.inf, 1.0], [3e38, -3e38]])
    assert len(CpuLookup().first(columns_of(rows), 2, costs, exact=True)) == 2
    assert len(best_columns(rows.T.contiguous(), costs)[1]) == 2
    assert not recwarn.list


COLUMNS = torch.randn(5, 40, generator=torch.Generator().manual_seed(0))
COSTS = torch.randn(7, 5, generator=torch.Generator().manual_seed(1))


def test_few_scores_and_blocks_of_many_give_the_first_smallest_score(monkeypatch):
    expected = (COSTS @ COLUMNS).argmin(dim=1)
    assert torch.equal(StoreLookup().best(COLUMNS, COSTS), expected)
    monkeypatch.setattr(lookup, "BLOCK_SCORES", 16)
    assert torch.equal(StoreLookup().best(COLUMNS, COSTS), expected)


def test_a_change_of_the_solutions_is_followed():
    search, columns = StoreLookup(), torch.eye(2)
    costs = torch.tensor([[1.0, 2.0]])
    assert search.best(columns, costs).tolist() == [0]
    grown = torch.cat([columns, torch.tensor([[-5.0], [0.0]])], dim=1)
    search.insert(grown.T[2:], slice(2, 3), 3)
    assert search.best(grown, costs).tolist() == [2]


def test_an_instance_gets_only_what_serves_it_and_one_without_a_solution_is_named():
    serves = torch.zeros(2, 40, dtype=torch.bool)
    serves[0, 11:13] = True
    found = StoreLookup().best(COLUMNS, COSTS, serves, torch.zeros(7, dtype=torch.int64))
    assert torch.equal(found, 11 + (COSTS @ COLUMNS[:, 11:13]).argmin(dim=1))
    with pytest.raises(InputError, match="no solution that is feasible for instance 1: add its optimum first"):
        StoreLookup().best(COLUMNS, COSTS, serves, torch.tensor([0, 0, 1, 0, 0, 0, 0]))


def test_any_objective_can_be_minimized():
    found = StoreLookup().best(COLUMNS, COSTS, objective=lambda rows, costs: ((rows - costs) ** 2).sum(dim=-1))
    assert torch.equal(found, torch.cdist(COSTS, COLUMNS.T).argmin(dim=1))
