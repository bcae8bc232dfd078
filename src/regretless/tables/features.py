"""Features from files, per instance or per variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.listing import listed, meant
from regretless.milp import Floats
from regretless.tables.cells import Cells
from regretless.tables.encoding import Encoding
from regretless.tables.npz_file import finite, main_array, read_arrays, strings
from regretless.tables.probable_columns import id_column, variable_column
from regretless.tables.read_table import is_arrays, read_cells
from regretless.tables.row_names import row_key
from regretless.tables.table import ordered


@dataclass(frozen=True, eq=False)
class Features:
    """The input of a model.

    Attributes:
        values: ``(n, k)`` features per instance, or ``(n, d, k)`` per variable.
        names: names of the k features; ``None`` if the file (NPZ) has none.
        instance: names of the n instances; ``None`` if the file has none.
    """

    values: Floats
    names: tuple[str, ...] | None
    instance: tuple[str, ...] | None


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Columns of a file or a data frame with one row per instance, or per variable of an instance.

    Attributes:
        cells: all columns, the keys included.
        id: column that names the instances.
        rows: per instance, the positions of its rows: one, or one per variable in the order of the model.
        instance: names of the instances; ``None`` if the table has none.
        per_variable: whether every variable has its own row.
    """

    cells: Cells
    id: str
    rows: tuple[tuple[int, ...], ...]
    instance: tuple[str, ...] | None
    per_variable: bool

    def learn(self, positions: Sequence[int], **settings: Any) -> Encoding:
        """Learn an encoding from the rows of some instances; settings are those of ``Encoding.learn``."""
        some = [row for i in positions for row in self.rows[i]]
        return Encoding.learn(self._columns.rows(some), id=self.id, **settings)

    def encoded(self, encoding: Encoding) -> Features:
        """Encode all rows."""
        values = encoding.apply(self._columns)
        shaped = values[np.array(self.rows)] if self.per_variable else values
        return Features(np.ascontiguousarray(shaped), encoding.feature_names, self.instance)

    @property
    def _columns(self) -> Cells:
        return self.cells.without(["variable"]) if self.per_variable else self.cells


def feature_table(path: Path | str | Cells, cost_names: Sequence[str], *, id: str = "instance") -> FeatureTable:
    """Read the columns of a CSV or Parquet file.

    With the columns ``id`` and ``variable`` there is one row per variable of an instance; else one row per instance.

    Args:
        path: the file, or its cells.
        cost_names: names of the variables whose costs are predicted, in the order of the model.
        id: column that names the instances.

    Raises:
        FileError, InputError: the message names file, line and column if they are known.
    """
    cells = read_cells(path)
    cells.refuse_unnamed(id)
    if set(cells.columns) <= {id, "variable"} and id == "instance":
        raise InputError(f"{cells.source} has no column with a feature: only columns that name rows and variables")
    if "variable" not in cells.columns:
        near, names = cells.instead("variable"), cells.key(id)
        if near and names is not None and len(set(names)) < len(names):
            raise cells.error(f"there is no column 'variable'{near}, and {id!r} names several rows: rename the column")
        holds = variable_column(cells, cost_names)
        if holds and names is not None and len(set(names)) < len(names):
            raise cells.error(f"{holds!r} holds names of variables, and {id!r} names several rows: call it 'variable'")
        rows = tuple((i,) for i in range(len(cells)))
        return FeatureTable(cells, id, rows, cells.unique_key(id), False)
    names = cells.key(id)
    if names is None:
        raise cells.error(without_instances(cells, id))
    return FeatureTable(cells, id, stacked(cells, names, cost_names), tuple(dict.fromkeys(names)), True)


def read_features(path: Path | str | Cells, cost_names: Sequence[str], encoding: Encoding | None = None) -> Features:
    """Read features per instance or per variable.

    - CSV or Parquet: see ``feature_table``; without an encoding one is learned from all rows.
    - NPZ: the array ``features`` (or the only one), ``(n, k)`` or ``(n, d, k)``; optional arrays ``feature_names``,
      ``variable_names`` (matched to those of the model) and ``instance``.

    Args:
        path: the file, or the cells of a table.
        cost_names: names of the variables whose costs are predicted, in the order of the model.
        encoding: of training.

    Raises:
        FileError, InputError: the message names file, line and column if they are known.
    """
    if is_arrays(path):
        return _features_from_arrays(Path(str(path)), cost_names)
    table = feature_table(path, cost_names, id="instance" if encoding is None else encoding.id)
    return table.encoded(table.learn(range(len(table.rows))) if encoding is None else encoding)


def _features_from_arrays(path: Path, cost_names: Sequence[str]) -> Features:
    arrays = read_arrays(path)
    name = main_array(path, arrays, "features")
    values = finite(path, name, arrays[name])
    if values.ndim not in (2, 3) or not values.size:
        raise InputError(f"{path}: {name!r} must have shape (n, k) or (n, {len(cost_names)}, k), got {values.shape}")
    if values.ndim == 3:
        have = strings(path, arrays, "variable_names", values.shape[1])
        if have is not None:
            values = ordered(path, have, values.swapaxes(1, 2), cost_names, "variable").swapaxes(1, 2)
        elif values.shape[1] != len(cost_names):
            raise InputError(f"{path}: {name!r} must have shape (n, {len(cost_names)}, k), got {values.shape}")
    names = strings(path, arrays, "feature_names", values.shape[-1])
    return Features(np.ascontiguousarray(values), names, strings(path, arrays, "instance", len(values)))


def without_instances(cells: Cells, id: str) -> str:
    """What is wrong with a table that has one row per variable, but does not name the instances."""
    key = id_column(cells, "variable")
    other = "and the name of another column" if key is None else f"{quote(key)} if it names them"
    return (
        f"there is a column 'variable' but no column {id!r}{cells.instead(id)}, which names the instances: add it, "
        f"or train with --id {other}"
    )


def stacked(cells: Cells, instance: tuple[str, ...], cost_names: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Rows of each instance in the order of the variables; instances in the order in which they first appear."""
    variables = cells.key("variable") or ()
    known = set(cost_names)
    found: dict[str, dict[str, int]] = {name: {} for name in instance}
    written: dict[str, str] = {}
    for i, (which, variable) in enumerate(zip(instance, variables, strict=True)):
        if written.setdefault(row_key(which), which) != which:
            raise cells.error(
                f"{written[row_key(which)]!r} and {which!r} are one name: write both in the same way", row=i
            )
        if variable not in known:
            raise cells.error(
                f"{variable!r} is not one of the {len(known)} cost variables ({listed(cost_names)})"
                f"{meant(variable, cost_names)}: correct the name, "
                "leave the rows of this variable out, or train a new run in which it is one (--cost-variables)",
                row=i,
                column="variable",
            )
        if variable in found[which]:
            raise cells.error(f"instance {which!r} has {variable!r} twice: remove one of the rows", row=i)
        found[which][variable] = i
    for which, rows in found.items():
        missing = [name for name in cost_names if name not in rows]
        if missing:
            raise InputError(
                f"{cells.source}: instance {which!r} has no row for the variable {missing[0]!r}: add the row, or leave "
                "the instance out"
            )
    return tuple(tuple(rows[name] for name in cost_names) for rows in found.values())
