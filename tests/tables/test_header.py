from __future__ import annotations

import re
from pathlib import Path

import pytest

from regretless.errors import InputError
from regretless.tables.header import check_names, refuse_title
from regretless.tables.read_table import read_cells

NAMES, ROW = ["day", "zone", "wind"], ["2024-01-01", "north", "3,5"]


def numbered(*rows: list[object]) -> list[tuple[str, list[object]]]:
    return [(f"row {i}", row) for i, row in enumerate(rows, start=1)]


@pytest.mark.parametrize(
    "above", [[["Report"]], [["Report", "", ""]], [["", "Report", ""], ["", "", ""], ["made", "", ""]]]
)
def test_a_title_is_refused_with_the_row_that_names_the_columns(above: list[list[object]]) -> None:
    said = f"x, row 1: 'Report' seems to be a title, and row {len(above) + 1} seems to name the columns"
    with pytest.raises(InputError, match=rf"{said} \(day, zone, wind\): delete what is above"):
        refuse_title("x", numbered(*above, [*NAMES], [*ROW]))


@pytest.mark.parametrize(
    "rows",
    [
        [NAMES, ROW],
        [["", "wind"], ["0", "3"], ["1", "4"]],  # the index of a data frame
        [["", "zone"], ["a", "north"], ["b", "south"]],
        [["zone"], ["north", "east"], ["south", "east"]],  # a separator in a word
        [["wind"], ["3", "5"], ["4", "5"]],  # decimal commas
        [["day", "", ""], ROW, ROW],  # columns without a name
        [["day"]],
        [["", "", ""], NAMES, ROW],  # an empty row, which has no title
        [[]],
    ],
)
def test_other_tables_pass(rows: list[list[object]]) -> None:
    refuse_title("x", numbered(*rows))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("title", ["Report of March", "Report of March{0}{0}", "Report of March\n"])
def test_a_title_in_a_csv_file_is_refused_whatever_separates_the_cells(
    title: str, separator: str, tmp_path: Path
) -> None:
    row = [*ROW[:2], "3.5" if separator == "," else "3,5"]
    lines = [title.format(separator), *(separator.join(cells) for cells in (NAMES, row, row))]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"x\.csv, line 1: 'Report of March' seems to be a title, and line [23] seems"):
        read_cells(tmp_path / "x.csv")


def test_a_table_with_one_column_is_no_title(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("zone\nnorth; east\nsouth; east\nwest\n")
    assert read_cells(tmp_path / "x.csv").columns == {"zone": ["north; east", "south; east", "west"]}


def test_a_title_in_a_merged_cell_of_a_spreadsheet_is_refused(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Report of March"], [], NAMES, ["2024-01-01", "north", 3.5]):
        book.active.append(row)
    book.active.merge_cells("A1:C1")
    book.save(tmp_path / "x.xlsx")
    said = r"x\.xlsx, sheet 'Sheet', row 1: 'Report of March' seems to be a title, and row 3 seems to name the columns"
    with pytest.raises(InputError, match=said):
        read_cells(tmp_path / "x.xlsx")


INDEX = "(the index of a pandas data frame: f())"


@pytest.mark.parametrize(
    ("names", "places", "said"),
    [
        ([], [], "t: the file is empty: its first line must name the columns"),
        (["a", ""], [0, 3], "t: column 4 has no name: name it, or leave it out " + INDEX),
        (["a", "b", "a"], [0, 1, 2], "t: two columns are called 'a': rename one of them, or leave it out"),
        (["1", "2.5"], [0, 1], "t: the first line must name the columns, got numbers (1, ...)"),
    ],
)
def test_a_header_that_does_not_name_every_column_once_is_refused(
    names: list[str], places: list[int], said: str
) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(said)}$"):
        check_names("t", names, places, "f()")


def test_years_among_names_are_names() -> None:
    check_names("t", ["day", "2024", "2025"], [0, 1, 2], "f()")
