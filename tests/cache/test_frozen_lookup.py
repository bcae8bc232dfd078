"""The look-up that a CUDA graph can hold finds what the store finds, while the store grows."""

from __future__ import annotations

import pytest
import torch

from regretless.cache import SolutionStore, fp16_lookup
from regretless.cache.frozen_lookup import FrozenLookup


def rows(count: int, seed: int) -> torch.Tensor:
    return (torch.rand(count, 6, generator=torch.Generator().manual_seed(seed)) < 0.5).float()


def test_it_finds_what_the_store_finds_while_the_store_grows():
    store, generator = SolutionStore(6), torch.Generator().manual_seed(0)
    for step in range(30):
        store.add(rows(3, step))
        columns = store.reserved_columns()
        assert columns is not None
        costs = torch.randn(5, 6, generator=generator)
        (found,) = FrozenLookup(columns)([costs])
        best = store.take(store.look_up(costs))
        torch.testing.assert_close((costs * found).sum(1), (costs * best).sum(1))


def test_columns_stay_in_their_place_until_they_are_full():
    store = SolutionStore(6)
    store.add(torch.eye(6)[:2])
    columns = store.reserved_columns()
    assert columns is not None
    lookup = FrozenLookup(columns)
    store.add(torch.full((1, 6), 2.0))
    assert store.reserved_columns() is columns
    (found,) = lookup([-torch.ones(1, 6)])
    assert found.tolist() == [[2.0] * 6]


def test_several_queries_are_answered_and_counted():
    store = SolutionStore(6, dtype=torch.float64)
    store.add(rows(8, 0).double())
    columns = store.reserved_columns()
    assert columns is not None
    lookup = FrozenLookup(columns)
    first, second = lookup([torch.ones(4, 6), -torch.ones(4, 6)])
    assert lookup.count == 8
    assert first.dtype == torch.float32
    assert torch.equal(first, store.take(store.look_up(torch.ones(4, 6))).float())
    assert torch.equal(second, store.take(store.look_up(-torch.ones(4, 6))).float())


@pytest.mark.parametrize("options", [{"instances": 2}, {"capacity": 100}])
def test_families_and_capacities_need_more_than_a_product(options):
    store = SolutionStore(6, **options)
    store.add(torch.eye(6), torch.ones(2, 6, dtype=torch.bool) if "instances" in options else None)
    assert store.reserved_columns() is None


def test_an_empty_or_a_very_large_store_has_none(monkeypatch):
    store = SolutionStore(6)
    assert store.reserved_columns() is None
    store.add(torch.eye(6))
    monkeypatch.setattr(fp16_lookup, "SMALLEST", 6)
    assert store.reserved_columns() is None
