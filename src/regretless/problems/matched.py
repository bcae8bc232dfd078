"""Features and costs from files, matched to a model's variables and to each other by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.problems.tabular import KEYS, Floats, Table, finite, read_arrays, read_table, suffix_of

SHOWN = 5


@dataclass(frozen=True, eq=False)
class Features:
    """What a model sees.

    Attributes:
        values: ``(n, k)`` features of instances, or ``(n, d, k)`` of their variables.
        names: of the k features; ``None`` where the file (NPZ) has none.
        instance: names of the n instances; ``None`` where the file has none.
    """

    values: Floats
    names: tuple[str, ...] | None
    instance: tuple[str, ...] | None

    @property
    def per_variable(self) -> bool:
        """Whether every variable has features of its own."""
        return self.values.ndim == 3


@dataclass(frozen=True, eq=False)
class Costs:
    """True costs ``(n, d)`` in the order of the model's cost variables, and names of the instances where there are."""

    values: Floats
    instance: tuple[str, ...] | None


def read_features(path: Path | str, cost_names: Sequence[str]) -> Features:
    """Read features of instances or of variables.

    - CSV or Parquet with one row an instance: every column is a feature; a column ``instance`` names the rows.
    - CSV or Parquet with the columns ``instance`` and ``variable``: one row a variable of an instance.
    - NPZ: the array ``features`` (or the only one), ``(n, k)`` or ``(n, d, k)``; optional arrays ``feature_names``,
      ``variable_names`` (matched to the model's) and ``instance``.

    Args:
        path: of the file.
        cost_names: of the variables whose costs are predicted, in the model's order.

    Raises:
        FileError, InputError: what is wrong, with file, line and column where they are known.
    """
    if suffix_of(path) == ".npz":
        return _features_from_arrays(Path(path), cost_names)
    table = read_table(path)
    if not table.names:
        raise InputError(f"{path} has no column with a feature")
    instance = table.keys.get("instance")
    if "variable" in table.keys:
        if instance is None:
            raise InputError(
                f"{path} has a column 'variable' and none called 'instance'; one row a variable needs both"
            )
        return _stacked(table, instance, cost_names)
    _refuse_twice(table, instance)
    return Features(table.values, table.names, instance)


def read_costs(path: Path | str, cost_names: Sequence[str]) -> Costs:
    """Read true costs: one row an instance, one column a cost variable, in any order; ``instance`` may name the rows.

    In an NPZ file the array ``costs`` (or the only one) is ``(n, d)``; ``cost_names`` gives its columns' names, and
    without it they are in the model's order.
    """
    if suffix_of(path) == ".npz":
        arrays, path = read_arrays(path), Path(path)
        name = _main(path, arrays, "costs")
        values = finite(path, name, arrays[name])
        if values.ndim != 2 or (values.shape[1] != len(cost_names) and "cost_names" not in arrays):
            raise InputError(f"{path}: {name!r} must have shape (n, {len(cost_names)}), got {values.shape}")
        if "cost_names" in arrays:
            values = ordered(path, _strings(path, arrays, "cost_names", values.shape[1]), values, cost_names, "cost")
        return Costs(values, _instances(path, arrays, len(values)))
    # A variable of the model may be called "instance": then that column is its cost.
    table = read_table(path, keys=[key for key in KEYS if key not in cost_names and key != "variable"])
    instance = table.keys.get("instance")
    _refuse_twice(table, instance)
    return Costs(ordered(table.path, table.names, table.values, cost_names, "cost"), instance)


def matched(features: Features, costs: Costs, *, names: tuple[str, str]) -> Features:
    """Bring features into the order of the costs: by the column ``instance`` where both have one, else row by row.

    Args:
        features: in any order.
        costs: whose order counts.
        names: of the two files, for messages.
    """
    n, m = len(features.values), len(costs.values)
    if features.instance is not None and costs.instance is not None:
        _refuse_difference(features.instance, costs.instance, names)
        place = {instance: i for i, instance in enumerate(features.instance)}
        order = [place[instance] for instance in costs.instance]
        return replace(features, values=features.values[order], instance=costs.instance)
    if n != m:
        raise InputError(f"{names[0]} has {n} instances and {names[1]} has {m}; they must have as many")
    return features if features.instance is not None else replace(features, instance=costs.instance)


def ordered(path: Path, have: Sequence[str], values: Floats, wanted: Sequence[str], what: str) -> Floats:
    """Columns in the order wanted; missing and superfluous ones are named.

    Args:
        path: of the file, for messages.
        have: names of the columns.
        values: ``(..., columns)``.
        wanted: names, in the order wanted.
        what: a column is, for messages.
    """
    missing = [name for name in wanted if name not in set(have)]
    extra = [name for name in have if name not in set(wanted)]
    if missing or extra:
        parts = [f"missing: {listed(missing)}" if missing else "", f"unknown: {listed(extra)}" if extra else ""]
        raise InputError(
            f"{path}: expected {len(wanted)} {what} columns ({listed(wanted)}), got {len(have)}; "
            + "; ".join(part for part in parts if part)
        )
    place = {name: i for i, name in enumerate(have)}
    return np.ascontiguousarray(values[..., [place[name] for name in wanted]])


def listed(names: Sequence[str]) -> str:
    """Write the first few of many names."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _features_from_arrays(path: Path, cost_names: Sequence[str]) -> Features:
    arrays = read_arrays(path)
    name = _main(path, arrays, "features")
    values = finite(path, name, arrays[name])
    if values.ndim not in (2, 3) or not values.size:
        raise InputError(f"{path}: {name!r} must have shape (n, k) or (n, {len(cost_names)}, k), got {values.shape}")
    if values.ndim == 3:
        if "variable_names" in arrays:
            have = _strings(path, arrays, "variable_names", values.shape[1])
            values = ordered(path, have, values.swapaxes(1, 2), cost_names, "variable").swapaxes(1, 2)
        elif values.shape[1] != len(cost_names):
            raise InputError(f"{path}: {name!r} must have shape (n, {len(cost_names)}, k), got {values.shape}")
    names = _strings(path, arrays, "feature_names", values.shape[-1]) if "feature_names" in arrays else None
    return Features(np.ascontiguousarray(values), names, _instances(path, arrays, len(values)))


def _stacked(table: Table, instance: tuple[str, ...], cost_names: Sequence[str]) -> Features:
    """One row a variable to ``(n, d, k)``; instances in the order in which they first appear."""
    rows = {name: i for i, name in enumerate(dict.fromkeys(instance))}
    columns = {name: j for j, name in enumerate(cost_names)}
    values = np.full((len(rows), len(columns), len(table.names)), np.nan)
    for i, (which, variable) in enumerate(zip(instance, table.keys["variable"], strict=True)):
        if variable not in columns:
            raise InputError(
                f"{table.path}, {table.lines[i]}, column 'variable': {variable!r} is none of the "
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


def _main(path: Path, arrays: dict[str, Any], name: str) -> str:
    if name in arrays:
        return name
    if len(arrays) == 1:
        return next(iter(arrays))
    raise InputError(f"{path} must hold an array called {name!r}, got {listed(sorted(arrays)) or 'none'}")


def _strings(path: Path, arrays: dict[str, Any], name: str, count: int) -> tuple[str, ...]:
    array = arrays[name]
    if array.shape != (count,):
        raise InputError(f"{path}: {name!r} must have shape ({count},), got {array.shape}")
    names = tuple(str(item) for item in array)
    if len(set(names)) < count:
        raise InputError(f"{path}: {name!r} holds a name twice")
    return names


def _instances(path: Path, arrays: dict[str, Any], count: int) -> tuple[str, ...] | None:
    return _strings(path, arrays, "instance", count) if "instance" in arrays else None


def _refuse_twice(table: Table, instance: tuple[str, ...] | None) -> None:
    seen: set[str] = set()
    for i, name in enumerate(instance or ()):
        if name in seen:
            raise InputError(f"{table.path}, {table.lines[i]}, column 'instance': {name!r} is there twice")
        seen.add(name)


def _refuse_difference(left: tuple[str, ...], right: tuple[str, ...], names: tuple[str, str]) -> None:
    for some, others, a, b in ((left, right, *names), (right, left, *reversed(names))):
        alone = sorted(set(some) - set(others))
        if alone:
            raise InputError(f"{len(alone)} instances of {a} are not in {b}: {listed(alone)}")
