"""Features from files, per instance or per variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.tables.npz_file import finite, main_array, read_arrays, strings
from regretless.tables.read_table import read_table
from regretless.tables.table import Table, listed, ordered, suffix_of


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

    @property
    def per_variable(self) -> bool:
        """Whether every variable has its own features."""
        return self.values.ndim == 3


def read_features(path: Path | str, cost_names: Sequence[str]) -> Features:
    """Read features per instance or per variable.

    - CSV or Parquet with one row per instance: every column is a feature; a column ``instance`` names the rows.
    - CSV or Parquet with the columns ``instance`` and ``variable``: one row per variable of an instance.
    - NPZ: the array ``features`` (or the only one), ``(n, k)`` or ``(n, d, k)``; optional arrays ``feature_names``,
      ``variable_names`` (matched to those of the model) and ``instance``.

    Args:
        path: the file.
        cost_names: names of the variables whose costs are predicted, in the order of the model.

    Raises:
        FileError, InputError: the message names file, line and column if they are known.
    """
    if suffix_of(path) == ".npz":
        return _features_from_arrays(Path(path), cost_names)
    table = read_table(path)
    if not table.names:
        raise InputError(f"{path} has no column with a feature")
    if "variable" in table.keys:
        if "instance" not in table.keys:
            raise InputError(f"{path} has a column 'variable' but no column 'instance'; rows per variable need both")
        return _stacked(table, table.keys["instance"], cost_names)
    return Features(table.values, table.names, table.instances)


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


def _stacked(table: Table, instance: tuple[str, ...], cost_names: Sequence[str]) -> Features:
    """Rows per variable to ``(n, d, k)``; instances in the order in which they first appear."""
    rows = {name: i for i, name in enumerate(dict.fromkeys(instance))}
    columns = {name: j for j, name in enumerate(cost_names)}
    values = np.full((len(rows), len(columns), len(table.names)), np.nan)
    for i, (which, variable) in enumerate(zip(instance, table.keys["variable"], strict=True)):
        if variable not in columns:
            raise InputError(
                f"{table.path}, {table.lines[i]}, column 'variable': {variable!r} is not one of the "
                f"{len(columns)} cost variables ({listed(cost_names)})"
            )
        cell = (rows[which], columns[variable])
        if not np.isnan(values[cell]).any():
            raise InputError(f"{table.path}, {table.lines[i]}: instance {which!r} has {variable!r} twice")
        values[cell] = table.values[i]
    missing = np.argwhere(np.isnan(values).any(axis=2))
    if len(missing):
        which, variable = list(rows)[missing[0][0]], cost_names[missing[0][1]]
        raise InputError(f"{table.path}: instance {which!r} has no row for the variable {variable!r}")
    return Features(values, table.names, tuple(rows))
