"""The look-up in blocks finds what one pass over all solutions finds."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.cache import lookup
from regretless.cache.lookup import best_columns, best_of_first, best_on_cpu


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


@given(size=st.integers(1, 40), batch=st.integers(1, 20), few=st.integers(1, 9))
def test_the_fast_way_on_a_cpu_finds_what_one_pass_finds_or_leaves_it(size, batch, few):
    generator = torch.Generator().manual_seed(size)
    columns, costs = torch.randn(3, size, generator=generator), torch.randn(batch, 3, generator=generator)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "BLOCK_COSTS", few)
        patch.setattr(lookup, "BLOCK_SCORES", 200)
        found = best_on_cpu(columns, costs)
        blocks = best_columns(columns, costs)[1]
    if found is None:
        assert min(batch, few) * size > 200
        found = blocks
    scores = costs.double() @ columns.double()
    for position in (found, blocks):
        torch.testing.assert_close(
            scores.gather(1, position[:, None])[:, 0], scores.min(dim=1).values, rtol=1e-6, atol=1e-6
        )


def test_ties_go_to_the_first_on_every_way(monkeypatch):
    columns, costs = torch.ones(2, 6), torch.ones(5, 2)
    for few in (2, 9):
        monkeypatch.setattr(lookup, "BLOCK_COSTS", few)
        found = best_on_cpu(columns, costs)
        assert found is not None
        assert found.tolist() == [0] * 5


def test_infinite_costs_give_a_position_and_no_warning(recwarn):
    columns, costs = torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([[torch.inf, 1.0], [3e38, -3e38]])
    assert len(best_on_cpu(columns, costs)) == 2
    assert len(best_columns(columns, costs)[1]) == 2
    assert not recwarn.list
