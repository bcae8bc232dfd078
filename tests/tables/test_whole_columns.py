from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.tables import column_kinds
from regretless.tables.cells import Cells, frame_cells, number
from regretless.tables.column_kinds import kind_of, values_of
from regretless.tables.encoding import Encoding
from regretless.tables.read_table import read_cells
from regretless.tables.whole_columns import each_once, number_cells, plain_numbers

CELL = st.one_of(
    st.floats(), st.integers(), st.booleans(), st.none(), st.text(max_size=4),
    st.sampled_from(["1", " 2.5", "nan", "NA", "inf", "1_0", "1e400", "true", "2024-01-01", "0x1"]),
)  # fmt: skip


@given(st.lists(CELL, min_size=1, max_size=5))
def test_numbers_of_a_whole_column_are_those_of_its_cells(column: list[Any]) -> None:
    numbers = plain_numbers(column)
    if numbers is not None:
        assert numbers.tolist() == [number(cell) for cell in column]
        assert {column_kinds._kind(cell) for cell in column} == {"number"}
        assert not any(map(column_kinds.is_empty, column))


@pytest.mark.parametrize("cells", [["1", None], ["2024_01"], [True, False], ["1", 2.0], ["inf"], ["nan"], [10**400]])
def test_other_columns_are_read_cell_by_cell(cells: list[Any]) -> None:
    assert plain_numbers(cells) is None


def test_equal_words_are_converted_once() -> None:
    called: list[int] = []
    assert each_once(["a", "b", None, "a", None] * 100, lambda i: called.append(i) or i)[:5] == [0, 1, 2, 0, 2]
    assert called == [0, 1, 2]


def test_equal_times_of_two_zones_are_two_cells() -> None:
    noon = dt.datetime(2024, 1, 1, 12, tzinfo=dt.UTC)
    other = noon.astimezone(dt.timezone(dt.timedelta(hours=5)))
    assert noon == other
    assert each_once([noon, other], lambda i: [noon, other][i].hour) == [12, 17]
    assert each_once([1, 1.0, True], lambda i: i) == [0, 1, 2]


def test_a_table_of_numbers_and_words_is_not_read_cell_by_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"wind": [str(i / 7) for i in range(500)], "zone": ["north", "south"] * 250, "open": ["yes", "no"] * 250}
    cells = Cells("t", columns, tuple(f"row {i}" for i in range(500)))
    read: list[Any] = []
    original = column_kinds.value_of
    monkeypatch.setattr(column_kinds, "value_of", lambda *where: read.append(where) or original(*where))
    encoding = Encoding.learn(cells)
    assert encoding.apply(cells).shape == (500, 4)
    assert len(read) == 2 * 4  # two words of two columns, in learning and in applying


def test_the_first_cell_of_another_kind_is_named() -> None:
    cells = Cells("t", {"wind": ["1", "2", "x", "y"]}, ("row 1", "row 2", "row 3", "row 4"))
    with pytest.raises(InputError, match="row 3, column 'wind'"):
        values_of(cells, "wind", "number")
    assert kind_of(Cells("t", {"wind": ["1", "2"]}, ("row 1", "row 2")), "wind") == "number"


def test_arrays_of_numbers_become_python_numbers(tmp_path: Path) -> None:
    assert number_cells(np.array([1, 2], dtype=np.int16)) == [1, 2]
    assert number_cells(np.array([1.0, np.nan])) is None
    assert number_cells(np.array(["1"])) is None
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan], "c": [True, False], "d": pd.array([1, None], dtype="Int64")})
    frame.to_parquet(tmp_path / "t.parquet")
    expected = {"a": [1, 2], "b": [0.5, None], "c": [True, False], "d": [1, None]}
    for cells in (frame_cells(frame), read_cells(tmp_path / "t.parquet")):
        assert cells.columns == expected
        assert [type(cell) for column in cells.columns.values() for cell in column[:1]] == [int, float, bool, int]
