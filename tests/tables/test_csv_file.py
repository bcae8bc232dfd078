from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import FileError, InputError, RegretlessError
from regretless.tables.csv_file import read_csv

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).filter(
    lambda name: name not in ("instance", "variable")
)


@given(st.data())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    names = [*data.draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)), "last column"]
    rows = data.draw(st.lists(st.lists(FINITE, min_size=len(names), max_size=len(names)), min_size=1, max_size=4))
    text = io.StringIO()
    csv.writer(text).writerows([names, *rows])
    path = tmp_path_factory.mktemp("table") / "t.csv"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    table = read_csv(path)
    assert table.names == tuple(name.strip().removeprefix("\ufeff") for name in names)
    assert np.array_equal(table.values, np.array(rows))


@given(st.binary(max_size=80))
def test_any_bytes_are_a_table_or_a_clear_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "t.csv"
    path.write_bytes(content)
    said = ""
    try:
        read_csv(path)
    except RegretlessError as error:
        said = str(error)
    assert not said or "t.csv" in said


def test_keys_are_text_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfinstance, a ,variable\r\n7, 1.5 ,x\r\n\r\n8,2,y\r\n")
    table = read_csv(path)
    assert table.names == ("a",)
    assert table.keys == {"instance": ("7", "8"), "variable": ("x", "y")}
    assert table.lines == ("line 2", "line 4")
    assert len(table) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("a,a\n1,2\n", "two columns are called 'a'"),
        ("a,,b\n1,2,3\n", "column 2 has no name"),
        ("1,2\n3,4\n", "must name the columns"),
        ("a;b\n1;2\n", "commas"),
        ("a,b\n1,2\n1,2,3\n", "line 3: expected 2 cells as in the header, got 3"),
        ("a,b\n1,\n", "line 2, column 'b': the cell is empty"),
        ("a,b\n1,1e999\n", "line 2, column 'b': expected a finite number, got 1e999"),
        ("a,b\n1,1_x\n", "line 2, column 'b': expected a number, got '1_x'"),
        ("instance,b\n ,1\n", "line 2, column 'instance': the cell is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_csv(path)
    assert "t.csv" in str(error.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there is no file .*none\.csv"):
        read_csv(tmp_path / "none.csv")
    (tmp_path / "t.csv").write_bytes(b"a\n\xff\xfe\n")
    with pytest.raises(FileError, match=r"t\.csv cannot be read as CSV in UTF-8"):
        read_csv(tmp_path / "t.csv")
