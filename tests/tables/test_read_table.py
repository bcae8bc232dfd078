from __future__ import annotations

from pathlib import Path

import pytest

from regretless.errors import InputError
from regretless.tables.read_table import read_table


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
