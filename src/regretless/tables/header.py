"""The first row of a table: it names every column once, and it is no title, as people write it into spreadsheets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regretless.errors import InputError
from regretless.listing import first_repeated, listed
from regretless.tables.cells import number
from regretless.tables.column_kinds import BOOLEANS, as_date, as_time
from regretless.tables.whole_columns import plain_numbers

MOST_ROWS = 10  # below the title, in which the names of the columns are


def refuse_title(source: str, rows: Sequence[tuple[str, Sequence[Any]]]) -> None:
    """Refuse a table whose first row is a title, if a later one seems to name the columns.

    That is the first row with the most cells. All of them are different words, at least twice as many as in the first
    row, and the row below it is not of words only. ``rows`` are those that are not empty, with their positions.
    """
    filled = [[cell for cell in cells if cell not in ("", None)] for _, cells in rows]
    head = max(range(len(filled)), key=lambda i: len(filled[i]))
    title, names = filled[0], filled[head]
    if not title or len(names) < 2 * len(title) or len(set(names)) < len(names) or not all(map(_is_word, names)):
        return
    if head + 1 < len(filled) and not all(map(_is_word, filled[head + 1])):
        raise InputError(
            f"{source}, {rows[0][0]}: {str(title[0])[:40]!r} seems to be a title, and {rows[head][0]} seems to "
            f"name the columns ({listed(names)}): delete what is above the names of the columns"
        )


def _is_word(cell: Any) -> bool:
    if not isinstance(cell, str) or cell.lower() in BOOLEANS:
        return False
    return number(cell) is None and as_date(cell) is None and as_time(cell) is None


def check_names(where: str, names: list[str], places: list[int], without_index: str) -> None:
    """Refuse a header that does not name every column once.

    For messages, ``where`` is its file and position, ``places`` are those of the columns in the file, and
    ``without_index`` is the call of pandas that writes such a file without the index of a data frame.
    """
    if not names:
        raise InputError(f"{where}: the file is empty: its first line must name the columns")
    if "" in names:
        place = places[names.index("")] + 1
        raise InputError(
            f"{where}: column {place} has no name: name it, or leave it out (the index of a pandas data frame: "
            f"{without_index})"
        )
    twice = first_repeated(names)
    if twice is not None:
        raise InputError(f"{where}: two columns are called {twice!r}: rename one of them, or leave it out")
    if plain_numbers(names) is not None:
        raise InputError(f"{where}: the first line must name the columns, got numbers ({names[0]}, ...)")
