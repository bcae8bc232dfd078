from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import FileError, InputError, RegretlessError
from regretless.tables.read_cells import read_cells

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
