"""True costs from files, in the order of a model's variables, and features in the order of the costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.listing import alike, listed, missing_and_unknown
from regretless.milp import Floats
from regretless.tables.cells import Cells, number
from regretless.tables.column_kinds import as_date
from regretless.tables.features import Features, stacked, without_instances
from regretless.tables.foreign_numbers import foreign_form
from regretless.tables.npz_file import finite, main_array, read_arrays, strings
from regretless.tables.read_table import is_arrays, numeric_table, read_cells, read_table
from regretless.tables.row_names import row_key
from regretless.tables.table import ordered
from regretless.tables.wrong_cost_columns import cost_variables_option, ignore_option, refuse_other_columns


@dataclass(frozen=True, eq=False)
class Costs:
    """True costs ``(n, d)`` in the order of the model's cost variables, and the names of the instances, if any."""

    values: Floats
    instance: tuple[str, ...] | None


def read_costs(path: Any, cost_names: Sequence[str], *, id: str = "instance", variables: Sequence[str] = ()) -> Costs:
    """Read true costs: one row per instance, one column per cost variable in any order, and maybe ``id``.

    With the columns ``id`` and ``variable`` there is one row per variable of an instance, and one column of costs.
    ``path`` is a file, a data frame or its cells. In an NPZ file the array ``costs`` (or the only one) is ``(n, d)``;
    ``cost_names`` holds the names of its columns, and without it they are in the order of the model. All ``variables``
    of the model are for messages, which propose patterns.
    """
    if is_arrays(path):
        arrays, path = read_arrays(path), Path(path)
        name = main_array(path, arrays, "costs")
        values = finite(path, name, arrays[name])
        if values.ndim != 2 or (values.shape[1] != len(cost_names) and "cost_names" not in arrays):
            raise InputError(f"{path}: {name!r} must have shape (n, {len(cost_names)}), got {values.shape}")
        have = strings(path, arrays, "cost_names", values.shape[1])
        values = values if have is None else ordered(path, have, values, cost_names, "cost")
        return Costs(values, strings(path, arrays, "instance", len(values)))
    cells = read_cells(path)
    if "variable" in cells.columns and "variable" not in cost_names:
        return _per_variable(cells, cost_names, id, variables)
    # A variable of the model may be called "instance": then that column holds its cost.
    key = None if id in cost_names else id
    named = id != "instance" or key in cells.columns

    def check(columns: Cells) -> None:
        refuse_other_columns(columns, cost_names, id, named=named, variables=variables)

    table = read_table(cells, id=key, check=check)
    return Costs(ordered(table.cells.source, table.names, table.values, cost_names, "cost"), table.instances)


def _per_variable(cells: Cells, cost_names: Sequence[str], id: str, variables: Sequence[str]) -> Costs:
    """Costs from a table with one row per variable of an instance."""
    names = cells.key(id)
    if names is None:
        raise cells.error(without_instances(cells, id))
    values = cells.without([id, "variable"])
    if len(values.columns) != 1:
        found = list(values.columns)
        remedy = _remedy_for_several(values) if found else "add it"
        raise cells.error(
            f"expected one column with the costs beside {id!r} and 'variable', got {listed(found) or 'none'}: {remedy}"
        )
    nowhere, unknown = missing_and_unknown(cells.key("variable") or (), cost_names)
    if nowhere and not unknown and len(set(names)) > 1:
        option = cost_variables_option([name for name in cost_names if name not in nowhere], [*nowhere, *variables])
        raise cells.error(
            f"no row is about {listed(nowhere)}: add rows, or select the variables with predicted costs (train "
            f"{option})",
            column="variable",
        )
    rows = stacked(cells, names, cost_names)
    table = numeric_table(values, id=None)
    return Costs(table.values[np.array(rows), 0], tuple(dict.fromkeys(names)))


def _remedy_for_several(values: Cells) -> str:
    """Which columns to leave out of several, of which one holds the costs: first those that are no numbers."""
    words = [name for name in values.columns if any(number(cell) is None for cell in values.columns[name])]
    other = (words or list(values.columns))[0]
    costs = next(name for name in values.columns if name != other)
    return f"leave the others out, as in {ignore_option([other])} if {costs!r} holds the costs"


def matched(features: Features, costs: Costs, *, names: tuple[str, str]) -> Features:
    """Return features in the order of the costs, as ``row_order`` finds it; ``names`` are those of the two files."""
    counts = len(features.values), len(costs.values)
    order = row_order(features.instance, costs.instance, counts=counts, names=names)
    return replace(features, values=features.values[order], instance=costs.instance)


def row_order(
    have: Sequence[str] | None, wanted: Sequence[str] | None, *, counts: tuple[int, int], names: tuple[str, str]
) -> list[int]:
    """Positions of the wanted rows: by their names, or by position where neither file names them.

    Args:
        have, wanted: names of the rows of two files; ``None`` for a file without names.
        counts: numbers of their rows.
        names: names of the files, for messages.

    Raises:
        InputError: only one file names its rows, or the names or numbers differ.
    """
    if have is not None and wanted is not None:
        for one, other, what in ((have, wanted, names), (wanted, have, names[::-1])):
            there = {row_key(name) for name in other}
            if alone := sorted({name for name in one if row_key(name) not in there}):
                count = "1 instance" if len(alone) == 1 else f"{len(alone)} instances"
                raise InputError(
                    f"{count} of {what[0]} {'is' if len(alone) == 1 else 'are'} not in {what[1]}: {listed(alone)}; "
                    f"those of {what[1]} are {listed(other)}: {_remedy(alone, other)}"
                )
        place = {row_key(name): i for i, name in enumerate(have)}
        return [place[row_key(name)] for name in wanted]
    if have is not None or wanted is not None:
        named, other = names if have is not None else names[::-1]
        raise InputError(
            f"{named} names its rows and {other} does not, so that they cannot be matched: name the rows of both "
            "(column or array 'instance', or another column of one name in both with --id), or of neither"
        )
    if counts[0] != counts[1]:
        raise InputError(
            f"{names[0]} has {counts[0]} instances and {names[1]} has {counts[1]}; the numbers must be equal: "
            "rows without names (--id) are matched by position"
        )
    return list(range(counts[0]))


def _remedy(alone: Sequence[str], other: Sequence[str]) -> str:
    """What to do about rows that are in one file only."""
    form = foreign_form([name for name in (*alone, *other) if as_date(name) is None])
    if form is not None and form[1] == "a date":
        return f"write {form[2]} in both files"
    near = next((f"{name!r} is probably {same!r}: " for name, same in alike(alone, other).items()), "")
    return f"{near}write the names in the same way in both files, or leave out the rows that are in one of them only"
