"""The rows of a CSV file as text, without what spreadsheets add to a table: empty columns and rows at its end."""

from __future__ import annotations

import codecs
import csv
import re
from pathlib import Path
from typing import Any

from regretless.errors import FileError, InputError
from regretless.tables.cells import Cells
from regretless.tables.header import MOST_ROWS, check_names, refuse_title

# Characters that are searched for the separator; no header is longer in practice.
HEADER_MOST = 1 << 20
NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}
# A cell of the header, up to a separator or the end of the line. Quotes count only at its start, as for csv.reader.
_CELL = re.compile(r'(?:"[^"]*")*[^,;\t\r\n]*')
# Excel reads this line above the header, and programs that write for Excel write it.
_DECLARED = re.compile(r'"?sep=([^"\r\n]*)"?(?:\r\n|\r|\n|$)', re.IGNORECASE)
SAVE_AS = "save it as UTF-8 (in Excel: 'CSV UTF-8')"


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


def find_separator(source: str, text: str) -> tuple[str, int]:
    """Find the separator of a CSV file.

    The rows below the header have no say: a comma in them may be a decimal mark, a semicolon part of a text.

    Args:
        source: the file, for messages.
        text: its beginning.

    Returns:
        The separator (a comma for one column), and the number of lines above the header: 1 with a line ``sep=;``.

    Raises:
        InputError: the header has several separators outside of quotes, or the first line declares another one.

    >>> find_separator("x.csv", 'day;"wind, m/s"'), find_separator("x.csv", "sep=;\\nday;wind, m/s")
    ((';', 0), (';', 1))
    """
    declared = _DECLARED.match(text)
    found = _separators(text[declared.end() :] if declared else text)
    if declared is None:
        if len(found) > 1:
            raise InputError(
                f"{source}, line 1: the names of the columns are separated by a {_listed(found)}: put names with "
                "one of them into quotes, or write a line with the separator above the names, such as sep=;"
            )
        return found.pop() if found else ",", 0
    separator = declared[1]
    if separator not in NAMES:
        raise InputError(f"{source}, line 1: sep= must be followed by a comma, a semicolon or a tab, got {separator!r}")
    if found and separator not in found:
        raise InputError(
            f"{source}, line 1: sep= declares a {NAMES[separator]}, but the names of the columns are separated by a "
            f"{_listed(found)}: correct the line, or leave it out"
        )
    return separator, 1


def _separators(text: str) -> set[str]:
    """The separators outside of quotes in the first line, which is longer where a name in quotes has several lines."""
    found, at = set[str](), 0
    while cell := _CELL.match(text, at):
        at = cell.end()
        if text[at : at + 1] not in NAMES:
            break
        found.add(text[at])
        at += 1
    return found


def _listed(found: set[str]) -> str:
    return " and a ".join(name for separator, name in NAMES.items() if separator in found)


def encoding_of(path: Path) -> str:
    """The encoding of a file, by its byte order mark: Excel's 'Unicode text' is UTF-16; never another one by guess.

    Windows-1252 and its relatives decode almost any bytes, so that a wrong guess would show only as other words in one
    of two files.
    """
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def not_decoded(path: Path) -> str:
    """The first line of a file that is not in its encoding, and why, for messages."""
    encoding = encoding_of(path)
    try:
        path.read_bytes().decode(encoding)
    except UnicodeDecodeError as error:
        content, name = error.object, encoding.removesuffix("-sig")
        line = content[: error.start].decode(name, errors="ignore").count("\n") + 1
        return f"line {line}: the byte 0x{content[error.start]:02x} is not {name.upper()} ({error.reason}): {SAVE_AS}"
    return f"the file changed while it was read: {SAVE_AS}"
