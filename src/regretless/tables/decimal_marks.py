"""Decimal commas: in a file with semicolons or tabs ``3,5`` is a number, and ``1,234`` may be one of two.

A mark before exactly three digits is a decimal mark only where another number shows that it is. Whether a cell is read
depends on that; its value does not: ``1,234`` is 1.234 or an error, in every file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, Literal

from regretless.errors import InputError
from regretless.tables.cells import Cells, number
from regretless.tables.column_kinds import is_empty

Mark = Literal["", ".", ","]
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
# A number whose mark may separate thousands: one to three digits before it, no leading 0, and three digits after it.
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")
# A comma of one column shows what it is in others. A point need not: 12.30 may be a time, 2.1 a section.
_COMMAS: Set[Mark] = frozenset({","})


def marks_of_numbers(cells: Cells, columns: Iterable[str]) -> dict[str, Mark]:
    """The decimal mark per column of numbers: those in which most cells are numbers, with a comma or a point.

    The mark is empty where the numbers of a column have none. There are no columns for cells in which only points are
    read.
    """
    if not cells.decimal_commas:
        return {}
    return {column: _Marked.of(cells, column).mark for column in columns if _mostly_numbers(cells.columns[column])}


def with_points(
    cells: Cells, columns: Collection[str], *, trained: Mapping[str, Mark] | None = None, showing: Set[Mark] = _COMMAS
) -> Cells:
    """Write the numbers of some columns with decimal points; cells that are no numbers stay as they are.

    Args:
        cells: of a file. Only those whose numbers may have decimal commas are changed.
        columns: the columns of numbers.
        trained: their decimal marks in training.
        showing: marks that one of the columns shows for all of them.

    Raises:
        InputError: a column has both marks; or all of its marks may separate thousands, and nothing shows that they do
            not.

    >>> with_points(Cells("x", {"a": ["1,5", "2"]}, ("", ""), decimal_commas=True), ["a"]).columns
    {'a': ['1.5', '2']}
    """
    if not cells.decimal_commas:
        return cells
    marked = {column: _Marked.of(cells, column) for column in columns}
    clear = {column: one.mark for column, one in marked.items() if one.clear}
    before = trained or {}
    if any(before.get(column) not in (None, "", mark) for column, mark in clear.items()):
        before = {}  # the file is written in another way than that of training
    changed = {}
    for column, one in marked.items():
        known = (set(clear.values()) & showing | {before.get(column, "")}) - {""}
        _refuse_two_marks(cells, column, one)
        if one.mark and not one.clear and known != {one.mark}:
            raise _doubtful(cells, column, one.first[one.mark])
        if one.mark == ",":
            changed[column] = [cell.replace(",", ".") if _has_comma(cell) else cell for cell in cells.columns[column]]
    return replace(cells, columns=cells.columns | changed)


def _has_comma(cell: Any) -> bool:
    return cell is not None and "," in cell and _COMMA.fullmatch(cell) is not None


def _has_point(cell: Any) -> bool:
    return cell is not None and "." in cell and number(cell) is not None


_HAVE: dict[Mark, Callable[[Any], bool]] = {",": _has_comma, ".": _has_point}


@dataclass(frozen=True)
class _Marked:
    """The first row of a column with a comma or a point in a number, by mark; and whether one can only be decimal."""

    first: dict[Mark, int]
    clear: bool

    @classmethod
    def of(cls, cells: Cells, column: str) -> _Marked:
        own = cells.columns[column]
        first: dict[Mark, int] = {}
        for mark, has_mark in _HAVE.items():
            row = next((i for i, cell in enumerate(own) if has_mark(cell)), None)
            if row is not None:
                first[mark] = row
        clear = any((_has_comma(cell) or _has_point(cell)) and not _THOUSANDS.fullmatch(cell) for cell in own)
        return cls(first, clear)

    @property
    def mark(self) -> Mark:
        return next(iter(self.first), "")


def _mostly_numbers(column: Iterable[Any]) -> bool:
    filled = [cell for cell in column if not is_empty(cell)]
    return 2 * sum(_has_comma(cell) or number(cell) is not None for cell in filled) > len(filled)


def _refuse_two_marks(cells: Cells, column: str, marked: _Marked) -> None:
    if len(marked.first) > 1:
        own, comma, point = cells.columns[column], marked.first[","], marked.first["."]
        raise cells.error(
            f"{own[point]!r} has a decimal point, and {own[comma]!r} in {cells.lines[comma]} has a comma: write all "
            "numbers of the column with the same decimal mark, without thousands separators",
            row=point,
            column=column,
        )


def _doubtful(cells: Cells, column: str, row: int) -> InputError:
    cell = cells.columns[column][row]
    decimal, thousands = cell.replace(",", "."), re.sub("[.,]", "", cell)
    return cells.error(
        f"{cell!r} may be {decimal} or {thousands}, and other numbers do not show which: write {cell}0 or {thousands}, "
        "or save the table with commas between cells and decimal points",
        row=row,
        column=column,
    )
