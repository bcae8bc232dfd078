from __future__ import annotations

import datetime as dt
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from regretless.errors import FileError, InputError
from regretless.tables.read_table import read_cells

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")


def book(path: Path, **sheets: list[list[Any]]) -> Path:
    written = openpyxl.Workbook()
    written.remove(written.active)
    for name, rows in sheets.items():
        sheet = written.create_sheet(name)
        for row in rows:
            sheet.append(row)
    written.save(path)
    return path


def test_cells_are_those_of_the_sheet_and_empty_columns_and_rows_are_left_out(tmp_path: Path) -> None:
    day = dt.datetime(2024, 1, 31)
    rows = [
        [],
        [None, "instance", "wind ", None, "day", "hour", "open", 2024],
        [None, 7, 1.5, None, day, day.replace(hour=6), True, " a "],
        [],
        [None, 8, None, None, day, day, False, ""],
        [None] * 8,
    ]
    cells = read_cells(book(tmp_path / "t.xlsx", Prices=rows, Empty=[]))
    assert cells.columns == {
        "instance": [7, 8],
        "wind": [1.5, None],
        "day": [day.date(), day.date()],
        "hour": [day.replace(hour=6), day],  # a midnight among timestamps
        "open": [True, False],
        "2024": ["a", None],
    }
    assert cells.key("instance") == ("7", "8")
    assert "t.xlsx, sheet 'Prices', row 5, column 'wind': wrong" in str(cells.error("wrong", row=1, column="wind"))
    assert str(cells.error("wrong")).endswith("t.xlsx, sheet 'Prices', row 2: wrong")


def test_hidden_sheets_are_not_read_and_several_visible_ones_are_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", a=[["x"], [1]], b=[["x"], [2]])
    with pytest.raises(InputError, match=r"has 2 sheets with cells \(a, b\): expected one sheet with one table"):
        read_cells(path)
    with_notes = openpyxl.load_workbook(path)
    with_notes["a"].sheet_state = "hidden"
    with_notes.save(path)
    assert read_cells(path).columns == {"x": [2]}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "t.xlsx has no cells: expected one sheet with one table"),
        ([["a", "b"]], "t.xlsx has no rows"),
        ([["a", "a"], [1, 2]], "sheet 'T', row 1: two columns are called 'a'"),
        ([["a", None], [1, 2]], r"row 1: column 2 has no name: .*to_excel\(index=False\)"),
        ([[1, 2], [3, 4]], r"row 1: the first line must name the columns, got numbers \(1, ...\)"),
        (
            [["Prices of May"], ["a", "b"], [1, 2]],
            "row 1: 'Prices of May' seems to be a title, and row 2 seems to name",
        ),
    ],
)
def test_a_sheet_that_is_no_table_is_refused(tmp_path: Path, rows: list[list[Any]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_cells(book(tmp_path / "t.xlsx", T=rows))


@pytest.mark.parametrize("suffix", ["xlsx", "xlsm", "xls", "ods"])
def test_a_file_that_is_no_spreadsheet_is_refused(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"t.{suffix}").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match=rf"t\.{suffix} cannot be read as a spreadsheet: "):
        read_cells(tmp_path / f"t.{suffix}")


def test_a_damaged_spreadsheet_is_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", T=[["a", "b"], *[[i, i * 0.5] for i in range(50)]])
    whole = path.read_bytes()
    for keep in range(0, len(whole), len(whole) // 20):
        path.write_bytes(whole[:keep])
        with pytest.raises(FileError, match="cannot be read as a spreadsheet"):
            read_cells(path)
    for at in range(40, len(whole), 97):  # a byte in between: refused, or of no consequence
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        with suppress(FileError, InputError):
            read_cells(path)
