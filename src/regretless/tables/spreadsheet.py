"""The cells of a spreadsheet, of Excel or in the OpenDocument format, that holds one table."""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from regretless.errors import FileError, InputError
from regretless.listing import listed
from regretless.optional import need
from regretless.tables.cells import Cells, plain_cell
from regretless.tables.header import MOST_ROWS, check_names, refuse_title


def read_sheet(path: Path) -> Cells:
    """Read the only visible sheet that has cells; its first row with cells names the columns.

    A cell with a formula has the value that the spreadsheet program stored, and a cell with an error, such as ``#N/A``,
    is empty. Columns without a name and without a cell are left out, and so are empty rows.

    Raises:
        FileError: the file cannot be read as a spreadsheet.
        InputError: there is no sheet with cells or more than one, or the header is wrong.
        MissingDependencyError: python-calamine is not installed.
    """
    name, cells = _only_sheet(path)
    rows = [(number, row) for number, row in enumerate(cells, start=1) if any(cell != "" for cell in row)]
    (first, names), *rows = rows
    header = [_name(cell) for cell in names]
    filled = [j for j, name in enumerate(header) if name or any(row[j] != "" for _, row in rows)]
    where = f"sheet {name!r}, row {first}"
    refuse_title(
        f"{path}, sheet {name!r}", [(f"row {number}", row) for number, row in [(first, names), *rows[:MOST_ROWS]]]
    )
    check_names(f"{path}, {where}", [header[j] for j in filled], filled, "to_excel(index=False)")
    columns = {header[j]: [plain_cell(cell) for cell in _one_kind_of_date([row[j] for _, row in rows])] for j in filled}
    return Cells(str(path), columns, tuple(f"sheet {name!r}, row {number}" for number, _ in rows), where)


def _only_sheet(path: Path) -> tuple[str, list[list[Any]]]:
    """Name and cells of the only visible sheet that has cells."""
    calamine = need("python_calamine", pip="python-calamine", why="read spreadsheets")
    try:
        with calamine.load_workbook(path) as book:
            visible = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.typ == calamine.SheetTypeEnum.WorkSheet and sheet.visible == calamine.SheetVisibleEnum.Visible
            ]
            # All rows and columns from the first on, so that their numbers are those that the user sees.
            sheets = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in visible}
    except (calamine.CalamineError, OSError) as error:
        raise FileError(f"{path} cannot be read as a spreadsheet: {error}") from error
    filled = {name: cells for name, cells in sheets.items() if any(cell != "" for row in cells for cell in row)}
    if len(filled) != 1:
        have = f"has {len(filled)} sheets with cells ({listed(list(filled))})" if filled else "has no cells"
        raise InputError(f"{path} {have}: expected one sheet with one table, so save each table as a file of its own")
    return next(iter(filled.items()))


def _one_kind_of_date(cells: list[Any]) -> list[Any]:
    """Cells in which midnights are timestamps where others are: calamine reads every midnight as a day."""
    if not any(isinstance(cell, datetime) for cell in cells):
        return cells
    days = [isinstance(cell, date) and not isinstance(cell, datetime) for cell in cells]
    return [datetime.combine(cell, time()) if day else cell for cell, day in zip(cells, days, strict=True)]


def _name(cell: Any) -> str:
    """The name of a column: a year is written without a fraction."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()
