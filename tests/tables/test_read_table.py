from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import FileError, InputError, RegretlessError
from regretless.tables.read_table import read_table

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
    table = read_table(path)
    assert table.names == tuple(name.strip().removeprefix("\ufeff") for name in names)
    assert np.array_equal(table.values, np.array(rows))


@given(st.binary(max_size=80))
def test_any_bytes_are_a_table_or_a_clear_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "t.csv"
    path.write_bytes(content)
    said = ""
    try:
        read_table(path)
    except RegretlessError as error:
        said = str(error)
    assert not said or "t.csv" in said


def test_keys_are_text_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfinstance, a ,variable\r\n7, 1.5 ,x\r\n\r\n8,2,y\r\n")
    table = read_table(path)
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
        ("a,b\n1,1e999\n", "line 2, column 'b': expected a finite number, got inf"),
        ("a,b\n1,1_x\n", "line 2, column 'b': expected a finite number, got '1_x'"),
        ("instance,b\n ,1\n", "line 2, column 'instance': the cell is empty"),
    ],
)
def test_errors_name_file_line_and_column(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_table(path)
    assert "t.csv" in str(error.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there is no file .*none\.csv"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "t.csv").write_bytes(b"a\n\xff\xfe\n")
    with pytest.raises(FileError, match=r"t\.csv cannot be read as CSV in UTF-8"):
        read_table(tmp_path / "t.csv")


def test_parquet_is_read_and_its_cells_are_checked(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"

    def write(columns: dict[str, list[object]]) -> None:
        parquet.write_table(arrow.table(columns), path)

    write({"instance": [1, 2], "a": [1, 2], "b": [0.5, True * 1.0]})
    table = read_table(path)
    assert (table.names, table.keys) == (("a", "b"), {"instance": ("1", "2")})
    assert table.values.tolist() == [[1.0, 0.5], [2.0, 1.0]]
    for cell, message in ((None, "the cell is empty"), (float("nan"), "finite number, got nan")):
        write({"a": [1.0, cell]})
        with pytest.raises(InputError, match=f"row 2, column 'a': .*{message}"):
            read_table(path)
    write({"a": ["x"]})
    with pytest.raises(InputError, match="row 1, column 'a': expected a finite number, got 'x'"):
        read_table(path)
    path.write_bytes(b"PAR1 nonsense")
    with pytest.raises(FileError, match="cannot be read as Parquet"):
        read_table(path)


def test_the_suffix_selects_the_reader_and_keys_are_text(tmp_path: Path) -> None:
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    (tmp_path / "t.csv").write_text("instance,a\n1,2\n")
    parquet.write_table(arrow.table({"instance": ["1"], "a": [2]}), tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        table = read_table(tmp_path / name)
        assert (table.names, table.keys, table.values.tolist()) == (("a",), {"instance": ("1",)}, [[2.0]])
        assert read_table(tmp_path / "t.csv", keys=()).values.tolist() == [[1.0, 2.0]]
