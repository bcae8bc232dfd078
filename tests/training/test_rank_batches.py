from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.training.rank_batches import RankBatches, total_row


def ranks(size: int) -> list[Any]:
    return [SimpleNamespace(rank=rank, size=size) for rank in range(size)]


@given(n=st.integers(1, 80), batch_size=st.integers(1, 9), size=st.integers(1, 5), seed=st.integers(0, 9))
def test_ranks_see_every_instance_once_and_do_the_same_number_of_steps(
    n: int, batch_size: int, size: int, seed: int
) -> None:
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    if n < size:
        with pytest.raises(InputError, match=f"{size} ranks need at least {size} training instances, got {n}"):
            RankBatches(n, batch_size, ranks(size)[0])
        return
    batches = [RankBatches(n, batch_size, rank) for rank in ranks(size)]
    cut = [one.cut(torch.arange(n), order) for one in batches]
    assert len({len(parts) for parts in cut}) == 1
    assert sorted(torch.cat([part for parts in cut for part in parts]).tolist()) == list(range(n))
    for step in range(len(cut[0])):
        joint = torch.cat([parts[step] for parts in cut])
        first = batches[0].start(step)
        assert joint.tolist() == order[first : first + len(joint)].tolist()
        # The mean over ranks of weighted means is the mean over the joint batch.
        values = order.to(torch.float64)
        means = [one.weight(step, "mean") * values[parts[step]].mean() for one, parts in zip(batches, cut, strict=True)]
        torch.testing.assert_close(torch.stack(means).mean(), values[joint].mean())


def test_without_ranks_batches_are_consecutive_parts() -> None:
    batches = RankBatches(7, 3, None)
    assert [part.tolist() for part in batches.cut(torch.arange(7), torch.arange(7))] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [batches.start(step) for step in range(3)] == [0, 3, 6]
    assert batches.weight(2, "mean") == batches.weight(2, "sum") == 1.0


def test_a_sum_over_instances_is_a_sum_over_ranks() -> None:
    assert RankBatches(10, 2, ranks(2)[0]).weight(0, "sum") == 2.0


def test_counts_add_up_and_times_do_not() -> None:
    rows = [
        {"loss": 1.0, "solves": 2, "not_optimal": 0, "failed": 1, "seconds": 5.0, "solver_seconds": 1.0, "lookups": 9},
        {"loss": 2.0, "solves": 3, "not_optimal": 1, "failed": 0, "seconds": 4.0, "solver_seconds": 2.0, "lookups": 9},
    ]
    gathering: Any = SimpleNamespace(gather_objects=lambda own: rows)
    assert total_row(rows[0], gathering) == {
        "loss": 3.0, "solves": 5, "not_optimal": 1, "failed": 1, "seconds": 5.0, "solver_seconds": 2.0,
    }  # fmt: skip


@pytest.mark.parametrize(("n", "sizes"), [(9, [4, 5]), (10, [4, 4, 2]), (8, [4, 4]), (1, [1])])
def test_a_last_batch_that_is_too_small_joins_the_one_before(n: int, sizes: list[int]) -> None:
    batches = RankBatches(n, 4, None, least=2)
    parts = batches.cut(torch.arange(n), torch.arange(n))
    assert [len(part) for part in parts] == sizes
    assert [batches.start(step) for step in range(len(sizes))] == [int(part[0]) for part in parts]
