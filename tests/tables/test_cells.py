from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from regretless.errors import InputError
from regretless.tables.cells import frame_cells, number, row_name
from regretless.tables.read_table import read_cells


def test_numbers_are_found_in_cells_of_every_kind() -> None:
    cells = ["1.5", " 2 ", 3, np.float32(0.5), True, Decimal("1.25"), "x", None, dt.date(2024, 1, 1)]
    assert [number(cell) for cell in cells] == [1.5, 2.0, 3.0, 0.5, 1.0, 1.25, None, None, None]


def test_an_underscore_is_not_part_of_a_number() -> None:
    assert number("2024_01") is None
    assert number("1e5") == 1e5


def test_two_columns_of_one_name_in_a_frame_are_refused() -> None:
    with pytest.raises(InputError, match="features has two columns called 'a'"):
        frame_cells(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="features has no rows"):
        frame_cells(pd.DataFrame({"a": []}))


def test_some_rows_keep_their_lines_for_messages(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n2\n3\n")
    some = read_cells(tmp_path / "t.csv").rows([2, 0])
    assert (some.columns, some.lines) == ({"a": ["3", "1"]}, ("line 4", "line 2"))


def test_spaces_around_words_of_a_frame_are_no_part_of_them() -> None:
    assert frame_cells(pd.DataFrame({"a": [" mon", "tue ", "  "]})).columns == {"a": ["mon", "tue", None]}


def test_a_row_has_one_name_whatever_kind_its_cell_is() -> None:
    day = dt.date(2024, 1, 31)
    assert {row_name(cell) for cell in (day, "2024-01-31", pd.Timestamp(day), "2024-01-31 00:00:00")} == {"2024-01-31"}
    assert row_name(7.0) == row_name(np.int64(7)) == row_name(" 7 ") == "7"
    with pytest.raises(InputError, match="an instance needs a name"):
        row_name(" ")
