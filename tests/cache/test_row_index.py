from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.cache.row_index import RowIndex, new_rows, normalized, row_bytes


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_keys_of_binary_rows_do_not_collide(dtype):
    rows = torch.tensor(list(itertools.product([0.0, 1.0], repeat=16)), dtype=dtype)
    wide = torch.zeros(len(rows), 48, dtype=dtype)
    wide[:, ::3] = rows
    assert len(set(RowIndex.keys(row_bytes(wide.numpy())))) == len(rows)


def test_rows_have_the_same_bytes_however_they_lie_in_memory():
    rows = np.arange(6.0).reshape(3, 2)
    assert row_bytes(rows) == [row.tobytes() for row in rows] == row_bytes(np.asfortranarray(rows))
    assert row_bytes(rows[:0]) == []
    zeros = np.zeros((2, 2), dtype=np.float32)
    assert row_bytes(zeros) == [bytes(8), bytes(8)]


def test_the_first_of_two_rows_with_one_key_is_found_until_it_is_forgotten():
    index = RowIndex()
    index.put([7, 7], [0, 1])
    assert index.find([7, 8]) == [0, None]
    index.forget([7], [1])
    assert index.find([7]) == [0]
    index.forget([7], [0])
    assert index.find([7]) == [None]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("given", [torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.bool])
def test_equal_solutions_have_equal_bytes_in_every_type_and_layout(given, dtype):
    solutions = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    zero = solutions.clone()
    zero[0, 0] = -0.0
    rows = [normalized(one.to(given), dtype) for one in (solutions, zero, solutions.T.contiguous().T)]
    assert rows[0].tolist() == solutions.tolist()
    assert len({row.tobytes() for row in rows}) == 1
    assert rows[0].dtype == torch.empty(0, dtype=dtype).numpy().dtype
    rows[0][:] = 7.0  # a copy
    assert solutions.max() == 1.0


def in_bytes(rows: list[tuple]) -> list[bytes]:
    return row_bytes(np.array(rows))


def bytes_at(stored: list[tuple]) -> Callable[[list[int]], list[bytes]]:
    return lambda places: in_bytes([stored[place] for place in places])


ROW = st.tuples(st.integers(0, 2), st.integers(0, 1))


@given(
    stored=st.lists(ROW, unique=True, max_size=4), rows=st.lists(ROW, min_size=1, max_size=8), buckets=st.integers(1, 9)
)
def test_rows_are_fresh_repeated_or_stored(stored: list[tuple], rows: list[tuple], buckets: int) -> None:
    """With few buckets different rows share a key, and the rows themselves decide."""

    def key(row: tuple) -> int:
        return hash(row) % buckets

    first_with_key: dict[int, int] = {}
    for place, row in enumerate(stored):
        first_with_key.setdefault(key(row), place)
    found = new_rows(in_bytes(rows), [first_with_key.get(key(row)) for row in rows], bytes_at(stored))
    assert all(rows[position] == stored[place] for position, place in found.stored)
    assert all(rows[position] == rows[before] and before < position for position, before in found.repeated)
    everything = [*found.fresh, *(p for p, _ in found.repeated), *(p for p, _ in found.stored)]
    assert sorted(everything) == list(range(len(rows)))
    assert found.fresh == sorted(found.fresh)


@given(stored=st.lists(ROW, unique=True, max_size=4), rows=st.lists(ROW, min_size=1, max_size=8))
def test_where_no_two_rows_share_a_key_the_fresh_ones_are_the_first_of_those_not_stored(
    stored: list[tuple], rows: list[tuple]
) -> None:
    places = [stored.index(row) if row in stored else None for row in rows]
    found = new_rows(in_bytes(rows), places, bytes_at(stored))
    assert [rows[p] for p in found.fresh] == list(dict.fromkeys(row for row in rows if row not in stored))
    assert [p for p, _ in found.stored] == [p for p, row in enumerate(rows) if row in stored]
