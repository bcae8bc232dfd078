"""Which columns are probably the keys of a table, for messages: the name of an instance, and that of a variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regretless.tables.cells import Cells, number


def variable_column(cells: Cells, cost_names: Sequence[str]) -> str | None:
    """The first column that holds names of cost variables only; ``None`` where there is none."""
    known = set(cost_names)
    return next((name for name, column in _plain(cells).items() if known.issuperset(column)), None)


def id_column(cells: Cells, variable: str | None = None) -> str | None:
    """The first column that may name the instances; ``None`` where there is none.

    Its cells are all different, and no fractions. With a column ``variable``, each of them is there once per variable.
    """
    per_instance = 1 if variable is None else len(set(cells.columns[variable]))
    for name, column in _plain(cells).items():
        if name != variable and None not in column and len(set(column)) * per_instance == len(column):
            pairs = column if variable is None else zip(column, cells.columns[variable], strict=True)
            if len(set(pairs)) == len(column) and not any(_is_fraction(cell) for cell in column):
                return name
    return None


def _plain(cells: Cells) -> dict[str, list[Any]]:
    """The columns that may hold names: those without lists and the like, which Parquet files and frames may have."""
    return {name: column for name, column in cells.columns.items() if all(map(_is_hashable, column))}


def _is_hashable(cell: object) -> bool:
    try:
        hash(cell)  # a tuple is of a type that can be hashed, also where it holds a list
    except TypeError:
        return False
    return True


def _is_fraction(cell: object) -> bool:
    value = number(cell)
    return value is not None and value % 1 != 0
