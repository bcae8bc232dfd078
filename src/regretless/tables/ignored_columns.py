"""Columns to ignore, in whichever table they are: comments, totals, numbers of customers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regretless.errors import InputError
from regretless.listing import listed, meant
from regretless.tables.cells import Cells
from regretless.tables.read_table import read_or_take
from regretless.tables.table import suffix_of


def without_ignored(table: Any, ignore: Sequence[str]) -> Any:
    """A table without the columns to ignore, of which it need not have any.

    Args:
        table: a file, a data frame of true costs, or ``None``.
        ignore: names of the columns.

    Returns:
        The cells that are left; the table itself where there is nothing to ignore, and for arrays.
    """
    return read_or_take(table).without(ignore) if ignore and _has_columns(table) else table


def first_without_ignored(tables: Sequence[Any], ignore: Sequence[str], *, id: str) -> list[Any]:
    """The tables of training without the columns to ignore; each column must be in one of the tables.

    Raises:
        InputError: no table has the column, or it names the rows.
    """
    if not ignore:
        return list(tables)
    if id in ignore and id != "instance":
        raise InputError(f"--id and --ignore both name the column {id!r}: leave one of them out")
    read = [read_or_take(table) if _has_columns(table) else table for table in tables]
    known = list(dict.fromkeys(name for cells in read if isinstance(cells, Cells) for name in cells.columns))
    for name in ignore:
        if name not in known:
            raise InputError(f"no table has a column {name!r} to ignore{meant(name, known)}; there are {listed(known)}")
    return [without_ignored(table, ignore) for table in read]


def _has_columns(table: Any) -> bool:
    return table is not None and (hasattr(table, "columns") or suffix_of(table) != ".npz")
