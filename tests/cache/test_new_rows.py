"""The comparison of an insertion, against one that compares every row with every other."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regretless.cache.new_rows import new_rows

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
    keys = [key(row) for row in rows]
    found = new_rows(
        np.array(rows), keys, [first_with_key.get(k) for k in keys], lambda places: np.array(stored)[places]
    )
    assert all(rows[position] == stored[place] for position, place in found.stored)
    assert all(rows[position] == rows[before] and before < position for position, before in found.repeated)
    everything = [*found.fresh, *(p for p, _ in found.repeated), *(p for p, _ in found.stored)]
    assert sorted(everything) == list(range(len(rows)))
    assert found.fresh == sorted(found.fresh)


@given(stored=st.lists(ROW, unique=True, max_size=4), rows=st.lists(ROW, min_size=1, max_size=8))
def test_where_no_two_rows_share_a_key_the_fresh_ones_are_the_first_of_those_not_stored(
    stored: list[tuple], rows: list[tuple]
) -> None:
    keys = [3 * a + b for a, b in rows]
    places = [stored.index(row) if row in stored else None for row in rows]
    found = new_rows(np.array(rows), keys, places, lambda at: np.array(stored)[at])
    assert [rows[p] for p in found.fresh] == list(dict.fromkeys(row for row in rows if row not in stored))
    assert [p for p, _ in found.stored] == [p for p, row in enumerate(rows) if row in stored]
