"""What a column of a table holds: numbers, booleans, dates, times, or categories."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from shlex import quote
from typing import Any, Literal

from regretless.tables.cells import Cells, number
from regretless.tables.foreign_numbers import are_compact_dates, foreign_form, number_remedy
from regretless.tables.row_names import WHOLE
from regretless.tables.whole_columns import each_once, plain_numbers

Kind = Literal["number", "boolean", "date", "time", "category"]
BOOLEANS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
EXAMPLES = {
    "number": "a finite number",
    "boolean": "true or false",
    "date": "a date such as 2024-01-31, 31.01.2024 or 2024-01-31 12:30",
    "time": "a time of day such as 12:30",
    "category": "a word",
}
# Text that stands for an empty cell, in any case.
EMPTY = {"nan", "na", "n/a", "#n/a", "<na>", "null"}
# Cells of Parquet files and data frames that hold several values, or none that can be read.
NESTED = (list, tuple, dict, bytes)
# A column of words is a set of categories only if they repeat.
MOST_LEVELS = 20
# A day as most of Europe writes it: with points, the day always comes first. With slashes it need not.
DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[ T]+(.+))?")


def kind_of(cells: Cells, column: str) -> Kind:
    """Find what the cells of a column are; all must be of one kind.

    Raises:
        InputError: the column is empty, has lists in its cells, mixes kinds (the first cell that differs from the most
            frequent kind is named), or holds words of which most occur once or look like numbers, dates or times.
    """
    own = cells.columns[column]
    plain = plain_numbers(own)
    if plain is not None:
        if are_compact_dates(plain):
            raise cells.error(_foreign(column, own[0], "a date", "dates as 2024-01-31"), row=0, column=column)
        return "number"
    nested = next((i for i, cell in enumerate(own) if isinstance(cell, NESTED)), None)
    if nested is not None:
        remedy = f"split the column, or leave it out with --ignore {quote(column)}"
        raise cells.error(f"expected one value, got {str(own[nested])[:40]!r}: {remedy}", row=nested, column=column)
    found: dict[Kind, list[int]] = {}
    for i, one in enumerate(each_once(own, lambda i: None if is_empty(own[i]) else _kind(own[i]))):
        if one is not None:
            found.setdefault(one, []).append(i)
    if not found:
        raise cells.error(f"all cells are empty: leave the column out with --ignore {quote(column)}", column=column)
    kind = max(found, key=lambda one: len(found[one]))
    if kind == "category":
        _refuse_foreign(cells, column, found[kind])
    for other, rows in found.items():
        if other != kind:
            empty = "leave it empty and add --missing fill, " if kind in ("number", "boolean") else ""
            raise cells.error(
                f"expected {EXAMPLES[kind]} as in {len(found[kind])} other cells, got "
                f"{str(cells.columns[column][rows[0]])[:40]!r}: correct the cell, {empty}or declare the column with "
                f"--categories {quote(column)}",
                row=rows[0],
                column=column,
            )
    if kind == "category":
        _refuse_identifiers(cells, column)
    return kind


def unread_date(cells: Cells, column: str) -> str | None:
    """The first cell of a column of dates in a form that is not read, such as 31/01/2024; ``None`` for others."""
    own = cells.columns[column]
    plain = plain_numbers(own)
    if plain is not None:
        return str(own[0]) if are_compact_dates(plain) else None
    words = [cell for cell in own if isinstance(cell, str) and as_date(cell) is None]
    form = foreign_form(words)
    return words[form[0]] if form is not None and form[1] == "a date" else None


def values_of(cells: Cells, column: str, kind: Kind) -> list[Any]:
    """All cells of a column, as ``value_of`` returns them."""
    own = cells.columns[column]
    plain = plain_numbers(own) if kind == "number" else None
    return each_once(own, lambda i: value_of(cells, column, i, kind)) if plain is None else plain.tolist()


def value_of(cells: Cells, column: str, row: int, kind: Kind) -> Any:
    """A cell as a float, a date, a time or a word; ``None`` if it is empty.

    Raises:
        InputError: the cell is of another kind.
    """
    cell = cells.columns[column][row]
    if is_empty(cell):
        return None
    if kind == "category":
        return word_of(cell)
    value: Any = None
    if kind == "number":
        value = number(cell)
        value = value if value is not None and math.isfinite(value) else None
    elif kind == "boolean":
        value = BOOLEANS.get(str(cell).lower(), number(cell))  # other kinds of files have 1 and 0
        value = value if value in (0.0, 1.0) else None
    elif kind == "date":
        value = as_date(cell)
    elif kind == "time":
        value = as_time(cell)
    if value is None:
        remedy = number_remedy(cell) if kind == "number" else "correct the cell"
        raise cells.error(f"expected {EXAMPLES[kind]}, got {str(cell)[:40]!r}: {remedy}", row=row, column=column)
    return value


def is_empty(cell: Any) -> bool:
    """Whether a cell of a feature is empty, or says so."""
    return cell is None or (isinstance(cell, str) and cell.lower() in EMPTY)


def word_of(cell: Any) -> str:
    """A cell as the name of a level; numbers without a fraction are written as integers in every kind of file.

    Codes stay what they are: ``007`` is not ``7``, ``1E3`` is not ``1000``, and no digit of a long one is lost.

    >>> word_of("3.0"), word_of(3.0), word_of("007"), word_of("12345678901234567890")
    ('3', '3', '007', '12345678901234567890')
    """
    if isinstance(cell, str):
        whole = WHOLE.fullmatch(cell)
        return whole[1] if whole else cell
    whole_number = isinstance(cell, float | Decimal) and math.isfinite(cell) and cell == int(cell)
    return str(int(cell)) if whole_number else str(cell)


def as_date(cell: Any) -> dt.datetime | None:
    """A date or a date with a time, as a point in local time.

    >>> str(as_date("2024-01-31 12:30")), str(as_date("31.1.2024"))
    ('2024-01-31 12:30:00', '2024-01-31 00:00:00')
    """
    if isinstance(cell, dt.datetime):
        return cell
    if isinstance(cell, dt.date):
        return dt.datetime(cell.year, cell.month, cell.day)
    if not isinstance(cell, str) or number(cell) is not None:
        return None
    dotted = DOTTED.fullmatch(cell)
    try:
        if dotted is None:
            return dt.datetime.fromisoformat(cell)
        day, month, year, time = dotted.groups(default="00:00")
        return dt.datetime.fromisoformat(f"{year}-{int(month):02}-{int(day):02} {time}")
    except ValueError:
        return None


def as_time(cell: Any) -> dt.time | None:
    """A time of day; the hour may have one digit, as spreadsheets write it.

    >>> as_time("7:30")
    datetime.time(7, 30)
    """
    if isinstance(cell, dt.time):
        return cell
    if not isinstance(cell, str) or ":" not in cell:
        return None
    try:
        return dt.time.fromisoformat(cell if cell[1:2] != ":" else f"0{cell}")
    except ValueError:
        return None


def _kind(cell: Any) -> Kind:
    if isinstance(cell, bool) or (isinstance(cell, str) and cell.lower() in BOOLEANS):
        return "boolean"
    if number(cell) is not None:
        return "number"
    if as_time(cell) is not None:
        return "time"
    return "category" if as_date(cell) is None else "date"


def _refuse_foreign(cells: Cells, column: str, rows: list[int]) -> None:
    words = [str(cells.columns[column][i]) for i in rows]
    form = foreign_form(words)
    if form is not None:
        first, what, remedy = form
        raise cells.error(_foreign(column, words[first], what, remedy), row=rows[first], column=column)


def _foreign(column: str, cell: Any, what: str, remedy: str) -> str:
    return (
        f"{str(cell)[:40]!r} looks like {what}: write {remedy}, or declare the column with --categories {quote(column)}"
    )


def _refuse_identifiers(cells: Cells, column: str) -> None:
    own = cells.columns[column]
    words = [
        word for word in each_once(own, lambda i: None if is_empty(own[i]) else word_of(own[i])) if word is not None
    ]
    levels = len(set(words))
    if levels > MOST_LEVELS and 2 * levels > len(words):
        name = quote(column)
        raise cells.error(
            f"{levels} different words in {len(words)} rows, such as {words[0][:40]!r}: declare the column with "
            f"--categories {name} or --id {name}, write numbers without a unit and dates as 2024-01-31, or leave it "
            f"out with --ignore {name}",
            column=column,
        )
