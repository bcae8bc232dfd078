"""Constraints per instance from files: other right-hand sides, bounds or known costs than in the model."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.family import Family
from regretless.listing import folded, listed
from regretless.milp import MILP, ROW_SIDES, Floats, with_infinities
from regretless.tables.cells import Cells, row_cells
from regretless.tables.costs import row_order
from regretless.tables.probable_columns import id_column
from regretless.tables.read_table import Table, numeric_table, read_cells, read_table
from regretless.variations import first_crossed

# Words before the colon of a column, and the vectors of the model that it changes; "row" depends on the row.
WORDS: dict[str, tuple[str, ...]] = {
    "row": (),
    "row_lower": ("row_lower",),
    "row_upper": ("row_upper",),
    "lower": ("lower",),
    "upper": ("upper",),
    "fixed": ("fixed_cost",),
}


@dataclass(frozen=True, eq=False)
class Constraints:
    """What differs from the model, per instance.

    Attributes:
        variations: arguments of ``Family.add``: arrays ``(n, rows)`` or ``(n, variables)``.
        instance: names of the n instances; ``None`` if the file has none.
        columns: names of the columns.
        values: ``(n, columns)`` as they were given.
    """

    variations: dict[str, Floats]
    instance: tuple[str, ...] | None
    columns: tuple[str, ...]
    values: Floats

    def __len__(self) -> int:
        return len(next(iter(self.variations.values())))

    def order(self, instance: Sequence[str] | None, count: int, *, names: tuple[str, str]) -> list[int]:
        """The row of each instance; arguments as for ``join``."""
        return row_order(self.instance, instance, counts=(len(self), count), names=names)

    def join(self, family: Family, instance: Sequence[str] | None, count: int, *, names: tuple[str, str]) -> list[int]:
        """Add members to a family for ``count`` instances, and return the id of each.

        They are matched by their names, or row by row where neither file has names. For messages, ``names`` are those
        of the file of constraints and of the other one.
        """
        order = self.order(instance, count, names=names)
        return family.add(**{part: values[order] for part, values in self.variations.items()})


def read_constraints(path: Path | str | Cells, milp: MILP, *, id: str = "instance") -> Constraints:
    """Read a CSV or Parquet file with one row per instance and one column per number that differs from the model.

    ``row:NAME`` is the right-hand side of a row: the upper side of ``<=``, the lower side of ``>=``, both of ``==``.
    ``row_lower:NAME`` and ``row_upper:NAME`` are the sides of any row, ``lower:NAME`` and ``upper:NAME`` the bounds and
    ``fixed:NAME`` the known cost of a variable. From 1e20 on a side or bound is infinite. The column ``id`` names
    the rows.

    Raises:
        FileError, InputError: the message names file, line and column.
    """
    cells = read_cells(path)
    named = id != "instance" or id in cells.columns
    table = read_table(cells, id=id, check=lambda columns: _refuse_other_columns(columns, milp, named=named))
    if not table.names:
        raise InputError(f"{table.cells.source} has no column with a constraint: name columns {_forms()}")
    return _variations(table, milp)


def vary_one(milp: MILP, constraints: Mapping[str, float]) -> MILP:
    """Return the model with the constraints of one instance, by the names of ``read_constraints``.

    >>> vary_one(MILP([[1.0, 1.0]], row_upper=1.0, row_names=["capacity"]), {"row:capacity": 2.0}).row_upper.tolist()
    [2.0]
    """
    if not constraints:
        return milp
    table = _one_row(constraints)
    return milp.replaced(**{part: values[0] for part, values in _variations(table, milp).variations.items()})


def constraint_numbers(constraints: Mapping[str, Any]) -> dict[str, float]:
    """The constraints of one instance as plain numbers, whatever kind of numbers they are.

    >>> constraint_numbers({"row:capacity": np.int64(2)})
    {'row:capacity': 2.0}
    """
    table = _one_row(constraints)
    return dict(zip(table.names, table.values[0].tolist(), strict=True))


def _one_row(constraints: Mapping[str, Any]) -> Table:
    cells = row_cells([constraints], "constraints")
    _refuse_other_columns(cells)
    return numeric_table(cells, id=None)


def _variations(table: Table, milp: MILP) -> Constraints:
    arrays: dict[str, Floats] = {}
    source: dict[tuple[str, int], str] = {}
    for k, column in enumerate(table.names):
        parts, place = _target(table, column, milp)
        for part in parts:
            if (part, place) in source:
                said = f"{source[part, place]!r} gives the same number: leave one of them out"
                raise table.cells.error(said, column=column)
            source[part, place] = column
            if part not in arrays:
                arrays[part] = np.tile(milp.written(part), (len(table.values), 1))
            values = table.values[:, k]
            arrays[part][:, place] = values if part == "fixed_cost" else with_infinities(values)
    crossed = first_crossed(milp, arrays)
    if crossed is not None:
        what = "row" if crossed.part.startswith("row") else "variable"
        raise table.cells.error(
            f"no value lies between the bounds {crossed.low:g} and {crossed.high:g} of the {what} {crossed.name}: "
            "correct the cell",
            row=crossed.member,
            column=source[crossed.part, crossed.place],
        )
    return Constraints(arrays, table.instances, table.names, table.values)


def _target(table: Table, column: str, milp: MILP) -> tuple[tuple[str, ...], int]:
    """The vectors that a column changes, and the place in them."""
    word, _, name = column.partition(":")
    of_row = word.startswith("row")
    known = (milp.row_names if of_row else milp.names) or ()
    what = "row" if of_row else "variable"
    if name not in known:
        same = [one for one in known if folded(one) == folded(name)]
        close = same or difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {word}:{close[0]}?" if close else f"its {what}s are {listed(known) or 'not named'}"
        raise table.cells.error(f"the model has no {what} {name!r}; {hint}", column=column)
    place = known.index(name)
    if word != "row":
        return WORDS[word], place
    low, high = (float(milp.written(side)[place]) for side in ROW_SIDES)
    if low == high:
        return ("row_lower", "row_upper"), place
    if np.isfinite(low) and np.isfinite(high):
        sides = f"row_lower:{name} and row_upper:{name}"
        said = f"the row {name!r} has two sides, {low:g} and {high:g}: use {sides}"
        raise table.cells.error(said, column=column)
    return ("row_upper",) if np.isfinite(high) else ("row_lower",), place


def _refuse_other_columns(cells: Cells, milp: MILP | None = None, *, named: bool = True) -> None:
    for column in cells.columns:
        word, colon, _ = column.partition(":")
        if not colon or word not in WORDS:
            remedy = f"train with --ignore {quote(column)} to leave it out"
            if milp is not None and column in (milp.row_names or ()):
                remedy = f"did you mean row:{column}?"
            elif milp is not None and column in (milp.names or ()):
                remedy = f"did you mean upper:{column}, lower:{column} or fixed:{column}?"
            elif not named and column == id_column(cells):
                remedy += f", or with --id {quote(column)} if it names the rows"
            raise cells.error(f"a column of constraints is named {_forms()}; {remedy}", column=column)


def _forms() -> str:
    return ", ".join(f"{word}:NAME" for word in WORDS)
