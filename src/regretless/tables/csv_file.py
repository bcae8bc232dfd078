"""The rows of a CSV file as text, without what spreadsheets add to a table: empty columns and rows at its end."""

from __future__ import annotations

import csv
from itertools import chain
from pathlib import Path

from regretless.errors import FileError, InputError
from regretless.listing import first_repeated
from regretless.tables.whole_columns import plain_numbers


def read_csv(path: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Read a CSV file (UTF-8, commas, a header).

    Columns without a name and without a cell are left out, and so are empty rows at the end.

    Returns:
        The cells by column, without spaces around them, and the line of each row.

    Raises:
        FileError: the file cannot be read as CSV.
        InputError: the header is wrong, or a row has too few or too many cells.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            _check_separator(path, first)
            reader = csv.reader(chain([first], file), strict=True)
            header = [name.strip() for name in next(reader, [])]
            rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if cells]
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path} cannot be read as CSV in UTF-8: {error}: save it as UTF-8 (in Excel: 'CSV UTF-8')"
        ) from error
    except (OSError, csv.Error) as error:
        raise FileError(f"{path} cannot be read as CSV in UTF-8: {error}") from error
    while rows and not any(rows[-1][1]):
        rows.pop()
    for line, cells in rows:
        if len(cells) < len(header) or any(cells[len(header) :]):
            raise InputError(
                f"{path}, line {line}: expected {len(header)} cells as in the header, got {len(cells)}: "
                'put cells with a comma into quotes, as in "a, b"'
            )
    filled = [j for j, name in enumerate(header) if name or any(cells[j] for _, cells in rows)]
    _check_names(path, header, filled)
    return {header[j]: [cells[j] for _, cells in rows] for j in filled}, [f"line {line}" for line, _ in rows]


def _check_separator(path: Path, first: str) -> None:
    if "," not in first and (";" in first or "\t" in first):
        raise InputError(
            f"{path}, line 1: cells must be separated by commas, got {first.strip()[:40]!r}: save the table with "
            "commas and decimal points, or as Parquet"
        )
    if first.lower().startswith("sep="):
        raise InputError(f"{path}, line 1: the first line must name the columns, got {first.strip()!r}: leave it out")


def _check_names(path: Path, header: list[str], filled: list[int]) -> None:
    names = [header[j] for j in filled]
    if not names:
        raise InputError(f"{path} is empty: its first line must name the columns")
    if "" in names:
        place = filled[names.index("")] + 1
        raise InputError(
            f"{path}, line 1: column {place} has no name: name it, or leave it out (the index of a pandas data frame: "
            "to_csv(index=False))"
        )
    twice = first_repeated(names)
    if twice is not None:
        raise InputError(f"{path}, line 1: two columns are called {twice!r}")
    if plain_numbers(names) is not None:
        raise InputError(f"{path}, line 1: the first line must name the columns, got numbers ({names[0]}, ...)")
