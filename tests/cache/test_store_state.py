"""Saved content of a store: what is kept, and what is refused."""

from __future__ import annotations

import pytest
import torch

from regretless.cache.store import SolutionStore
from regretless.cache.store_state import StoreState, read_state
from regretless.errors import InputError


def state(**changes: object) -> dict[str, object]:
    rows = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return {
        "rows": rows,
        "stamps": torch.tensor([3, 1, 2]),
        "clock": 3,
        "evicted": 0,
        "sum": torch.ones(1, 2),
    } | changes


def test_a_state_is_read_as_it_was_written() -> None:
    read = read_state(state(), 2, None)
    again = read_state(read.as_dict(), 2, None)
    assert torch.equal(again.rows, read.rows)
    assert torch.equal(again.stamps, read.stamps)
    assert (again.clock, again.evicted, again.serves) == (3, 0, None)
    assert "serves" not in read.as_dict()


def test_what_is_written_is_a_copy() -> None:
    rows = torch.zeros(2, 4).T
    written = StoreState(rows, torch.zeros(4), 0, 0, torch.zeros(1, 2)).as_dict()
    rows += 1
    assert not written["rows"].any()
    assert written["rows"].is_contiguous()


def test_a_smaller_capacity_keeps_what_was_used_last_in_the_order_of_insertion() -> None:
    serves = torch.tensor([[True, False, True]])
    kept = read_state(state(serves=serves), 2, 1).within(2)
    assert kept.rows.tolist() == [[0.0, 1.0], [1.0, 1.0]]
    assert kept.stamps.tolist() == [3, 2]
    assert kept.serves is not None
    assert kept.serves.tolist() == [[True, True]]
    assert kept.sum is None
    assert read_state(state(), 2, None).within(3).sum is not None


@pytest.mark.parametrize(
    ("changes", "instances", "message"),
    [
        ({"rows": torch.zeros(3, 5)}, None, "must have 2 columns, got shape \\(3, 5\\)"),
        ({"rows": torch.full((3, 2), torch.nan)}, None, "must be finite"),
        ({}, 4, "cache of a family"),
        ({"stamps": torch.zeros(2)}, None, "do not fit"),
        ({"sum": torch.zeros(2, 2)}, None, "do not fit"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(changes: dict, instances: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_state(state(**changes), 2, instances)


def test_a_smaller_store_keeps_what_an_eviction_would_have_kept_also_among_equal_stamps():
    full = SolutionStore(6, capacity=6)
    full.add(torch.eye(6))
    full.look_up(-torch.eye(6))  # all are used at the same time
    for capacity in range(1, 6):
        small = SolutionStore(6, capacity=capacity)
        small.load_state_dict(full.state_dict())
        assert small.rows.argmax(dim=1).tolist() == list(range(6 - capacity, 6))
