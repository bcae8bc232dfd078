from __future__ import annotations

import csv
import datetime as dt
import io
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import FileError, InputError, RegretlessError
from regretless.tables.cells import frame_cells, number, read_cells, row_name

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)


@given(st.data())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    names = [*data.draw(st.lists(TEXT, min_size=1, max_size=4, unique=True)), "last column"]
    rows = data.draw(st.lists(st.lists(TEXT, min_size=len(names), max_size=len(names)), min_size=1, max_size=4))
    separator, encoding = data.draw(st.sampled_from(",;\t")), data.draw(st.sampled_from(["utf-8", "utf-16"]))
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, delimiter=separator).writerow(names)
    csv.writer(text, delimiter=separator).writerows(rows)
    path = tmp_path_factory.mktemp("table") / "t.csv"
    path.write_text(text.getvalue(), encoding=encoding, newline="")
    cells = read_cells(path)
    assert list(cells.columns) == names
    assert [list(row) for row in zip(*cells.columns.values(), strict=True)] == rows
    assert cells.decimal_commas == (separator != ",")


@given(st.binary(max_size=80))
def test_any_bytes_are_a_table_or_a_clear_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "t.csv"
    path.write_bytes(content)
    said = ""
    try:
        read_cells(path)
    except RegretlessError as error:
        said = str(error)
    assert not said or "t.csv" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("a,a\n1,2\n", "two columns are called 'a'"),
        ("a,,b\n1,2,3\n", "column 2 has no name"),
        ("1,2\n3,4\n", "must name the columns"),
        ("a;b,c\n1;2,3\n", "a comma and a semicolon"),
        ("a,b\n1,2\n1,2,3\n", "line 3: expected 2 cells as in the header, got 3"),
    ],
)
def test_a_file_that_is_no_table_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_cells(tmp_path / "t.csv")
    assert "t.csv" in str(error.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there is no file .*none\.csv"):
        read_cells(tmp_path / "none.csv")
    (tmp_path / "t.csv").write_bytes(b"a\n\xff\xfe\n")
    with pytest.raises(FileError, match=r"t\.csv, line 2: the byte 0xff is not UTF-8"):
        read_cells(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"a table must be a \.csv, \.xlsx or \.parquet file"):
        read_cells(tmp_path / "t.npz")


def test_a_parquet_file_and_a_data_frame_have_the_same_cells(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "when": pd.to_datetime(["2024-01-31 12:30", None]),
            "what": pd.Categorical(["b", None]),
            "much": [1.5, np.nan],
            "many": pd.array([3, None], dtype="Int64"),
            "on": [True, False],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    expected = {
        "when": [dt.datetime(2024, 1, 31, 12, 30), None],
        "what": ["b", None],
        "much": [1.5, None],
        "many": [3, None],
        "on": [True, False],
    }
    assert read_cells(tmp_path / "t.parquet").columns == expected
    assert frame_cells(frame).columns == expected
    (tmp_path / "t.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(FileError, match="cannot be read as Parquet"):
        read_cells(tmp_path / "t.parquet")


def test_numbers_are_found_in_cells_of_every_kind() -> None:
    cells = ["1.5", " 2 ", 3, np.float32(0.5), True, Decimal("1.25"), "x", None, dt.date(2024, 1, 1)]
    assert [number(cell) for cell in cells] == [1.5, 2.0, 3.0, 0.5, 1.0, 1.25, None, None, None]


def test_an_underscore_is_not_part_of_a_number() -> None:
    assert number("2024_01") is None
    assert number("1e5") == 1e5


def test_the_index_of_a_data_frame_in_a_parquet_file_is_no_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"wind": [1.0, 2.0]}, index=[7, 9])
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet: the column '__index_level_0__' is the index of .*index=False"):
        read_cells(tmp_path / "t.parquet")
    frame.rename_axis("day").to_parquet(tmp_path / "t.parquet")
    assert read_cells(tmp_path / "t.parquet").columns == {"wind": [1.0, 2.0], "day": [7, 9]}


def test_two_columns_of_one_name_in_a_frame_are_refused() -> None:
    with pytest.raises(InputError, match="features has two columns called 'a'"):
        frame_cells(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="features has no rows"):
        frame_cells(pd.DataFrame({"a": []}))


def test_some_rows_keep_their_lines_for_messages(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n2\n3\n")
    some = read_cells(tmp_path / "t.csv").rows([2, 0])
    assert (some.columns, some.lines) == ({"a": ["3", "1"]}, ("line 4", "line 2"))


def test_codes_with_gaps_in_a_parquet_file_stay_integers(tmp_path: Path) -> None:
    codes = pd.DataFrame({"code": pd.array([2**53 + 1, None], dtype="Int64")})
    codes.to_parquet(tmp_path / "t.parquet")
    assert read_cells(tmp_path / "t.parquet").columns == {"code": [2**53 + 1, None]}


def test_spaces_around_words_of_a_frame_are_no_part_of_them() -> None:
    assert frame_cells(pd.DataFrame({"a": [" mon", "tue ", "  "]})).columns == {"a": ["mon", "tue", None]}


def test_a_row_has_one_name_whatever_kind_its_cell_is() -> None:
    day = dt.date(2024, 1, 31)
    assert {row_name(cell) for cell in (day, "2024-01-31", pd.Timestamp(day), "2024-01-31 00:00:00")} == {"2024-01-31"}
    assert row_name(7.0) == row_name(np.int64(7)) == row_name(" 7 ") == "7"
    with pytest.raises(InputError, match="an instance needs a name"):
        row_name(" ")
