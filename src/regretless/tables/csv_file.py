"""The rows of a CSV file as text, without what spreadsheets add to a table: empty columns and rows at its end."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from regretless.errors import FileError, InputError
from regretless.tables.cells import Cells
from regretless.tables.column_names import check_names
from regretless.tables.separator import NAMES, find_separator
from regretless.tables.text_encoding import SAVE_AS, encoding_of, not_decoded
from regretless.tables.title_rows import MOST_ROWS, refuse_title

# Characters that are searched for the separator; no header is longer in practice.
HEADER_MOST = 1 << 20


def read_csv(path: Path) -> Cells:
    """Read a CSV file: UTF-8, or UTF-16 with a byte order mark; a header; commas, semicolons or tabs.

    Columns without a name and without a cell are left out, and so are empty rows at the end.

    Raises:
        FileError: the file cannot be read as CSV.
        InputError: the header is wrong, or a row has too few or too many cells.
    """
    try:
        with path.open(encoding=encoding_of(path), newline="") as file:
            start = file.read(HEADER_MOST)
            if "\0" in start:
                raise FileError(f"{path} cannot be read as CSV: it has zero bytes, which no text has: {SAVE_AS}")
            separator, above = find_separator(str(path), start)
            file.seek(0)
            for _ in range(above):
                file.readline()
            reader = csv.reader(file, delimiter=separator, strict=True)
            header = [name.strip() for name in next(reader, [])]
            rows = [(above + reader.line_num, [cell.strip() for cell in cells]) for cells in reader if cells]
    except UnicodeDecodeError as error:
        raise FileError(f"{path}, {not_decoded(path)}") from error
    except (OSError, csv.Error) as error:
        raise FileError(f"{path} cannot be read as CSV: {error}") from error
    while rows and not any(rows[-1][1]):
        rows.pop()
    _refuse_title(path, header, rows, above, separator)
    for line, cells in rows:
        if len(cells) < len(header) or any(cells[len(header) :]):
            points = ", and write numbers as 1234.5" if separator == "," else ""
            raise InputError(
                f"{path}, line {line}: expected {len(header)} cells as in the header, got {len(cells)}: "
                f'put cells with a {NAMES[separator]} into quotes, as in "a{separator} b"{points}'
            )
    filled = [j for j, name in enumerate(header) if name or any(cells[j] for _, cells in rows)]
    where = f"line {above + 1}"
    check_names(f"{path}, {where}", [header[j] for j in filled], filled, "to_csv(index=False)")
    columns: dict[str, list[Any]] = {header[j]: [cells[j] or None for _, cells in rows] for j in filled}
    lines = tuple(f"line {line}" for line, _ in rows)
    return Cells(str(path), columns, lines, where, decimal_commas=separator != ",")


def _refuse_title(path: Path, header: list[str], rows: list[tuple[int, list[str]]], above: int, found: str) -> None:
    """Refuse a title in the place of the header; one without a separator does not show that of the rows below."""
    first = [(above + 1, header), *rows[:MOST_ROWS]]
    refuse_title(str(path), [(f"line {line}", cells) for line, cells in first])
    for separator in NAMES if len(header) == 1 and not above else ():
        split = [(f"line {line}", next(csv.reader([found.join(cells)], delimiter=separator))) for line, cells in first]
        refuse_title(str(path), split)
