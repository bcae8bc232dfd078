"""The names of the columns of a table, as its first row gives them."""

from __future__ import annotations

from regretless.errors import InputError
from regretless.listing import first_repeated
from regretless.tables.whole_columns import plain_numbers


def check_names(where: str, names: list[str], places: list[int], without_index: str) -> None:
    """Refuse a header that does not name every column once.

    Args:
        where: file and position of the header, for messages.
        names: of the columns.
        places: of the columns in the file, from 0, for messages.
        without_index: the call of pandas that writes such a file without the index of a data frame.
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
