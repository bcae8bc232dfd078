from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import FileError, InputError, RegretlessError
from regretless.tables.cells import Cells
from regretless.tables.read_table import first_without_ignored, read_cells, read_table, without_ignored


def test_a_table_holds_numbers_and_the_names_of_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfinstance, a ,b\r\n7, 1.5 ,1\r\n\r\n8,2,-3\r\n")
    table = read_table(path)
    assert (table.names, table.values.tolist()) == (("a", "b"), [[1.5, 1.0], [2.0, -3.0]])
    assert (table.instances, table.cells.lines, len(table.values)) == (("7", "8"), ("line 2", "line 4"), 2)
    assert read_table(path, id=None).names == ("instance", "a", "b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,\n", "line 2, column 'b': the cell is empty: fill it"),
        ("a,b\n1,1e999\n", "line 2, column 'b': expected a finite number, got '1e999': correct the cell"),
        ("a,b\n1,1_x\n", "line 2, column 'b': expected a finite number, got '1_x'"),
        ("instance,b\n ,1\n", "line 2, column 'instance': the cell is empty: every row needs a name"),
        ("instance,b\nx,1\nx,2\n", "line 3, column 'instance': 'x' occurs twice, first in line 2: remove one"),
    ],
)
def test_a_cell_that_is_no_finite_number_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_table(path)
    assert "t.csv" in str(error.value)


def test_parquet_cells_are_checked(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(arrow.table({"instance": [1, 2], "a": [1, 2], "b": [0.5, 1.0]}), path)
    table = read_table(path)
    assert (table.instances, table.values.tolist()) == (("1", "2"), [[1.0, 0.5], [2.0, 1.0]])
    for cell, said in ((None, "is empty"), (float("nan"), "is empty"), (float("inf"), "got 'inf'")):
        parquet.write_table(arrow.table({"a": [1.0, cell]}), path)
        with pytest.raises(InputError, match=f"row 2, column 'a': .*{said}"):
            read_table(path)


def test_a_point_of_one_column_shows_what_it_is_in_another(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1.234;0.5\n")
    assert read_table(tmp_path / "t.csv").values.tolist() == [[1.234, 0.5]]


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


@pytest.fixture
def tables(tmp_path: Path) -> tuple[str, str, None]:
    (tmp_path / "x.csv").write_text("day,wind,note\n1,2,rain\n")
    (tmp_path / "c.csv").write_text("day,a,total\n1,2,3\n")
    return str(tmp_path / "x.csv"), str(tmp_path / "c.csv"), None


def test_a_later_table_is_not_read_where_there_is_nothing_to_ignore(tmp_path: Path) -> None:
    assert without_ignored(tmp_path / "none.csv", ()) == tmp_path / "none.csv"
    np.savez(tmp_path / "c.npz", costs=np.ones((2, 1)))
    assert without_ignored(tmp_path / "c.npz", ["a"]) == tmp_path / "c.npz", "arrays have no columns"


def test_a_column_is_left_out_of_every_table_that_has_it(tables: tuple[str, str, None]) -> None:
    x, c, none = first_without_ignored(tables, ["note", "total"], id="day")
    assert isinstance(x, Cells)
    assert isinstance(c, Cells)
    assert (list(x.columns), list(c.columns), none) == (["day", "wind"], ["day", "a"], None)
    assert list(without_ignored(tables[1], ["note", "total"]).columns) == ["day", "a"], "a later table need not have it"
    assert list(without_ignored(pd.DataFrame({"a": [1], "note": ["x"]}), ["note"]).columns) == ["a"]


def test_a_column_that_no_table_has_is_refused_and_the_probable_one_is_named(tables: tuple[str, str, None]) -> None:
    said = r"no table has a column 'Note' to ignore \('note' is probably meant\); there are day, wind, note, a, total"
    with pytest.raises(InputError, match=said):
        first_without_ignored(tables, ["total", "Note"], id="day")


def test_the_column_that_names_the_rows_is_not_ignored_unless_it_is_the_default(tables: tuple[str, str, None]) -> None:
    with pytest.raises(InputError, match="--id and --ignore both name the column 'day'"):
        first_without_ignored(tables, ["day"], id="day")
    x, _, _ = first_without_ignored(tables, ["day"], id="instance")
    assert list(x.columns) == ["wind", "note"]
