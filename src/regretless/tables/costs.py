"""True costs from files, matched to the variables of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.tables.columns import ordered, refuse_twice
from regretless.tables.npz_file import finite, instances, main_array, read_arrays, strings
from regretless.tables.read_table import read_table
from regretless.tables.table import KEYS, suffix_of


@dataclass(frozen=True, eq=False)
class Costs:
    """True costs ``(n, d)`` in the order of the model's cost variables, and names of the instances where there are."""

    values: Floats
    instance: tuple[str, ...] | None


def read_costs(path: Path | str, cost_names: Sequence[str]) -> Costs:
    """Read true costs: one row an instance, one column a cost variable, in any order; ``instance`` may name the rows.

    In an NPZ file the array ``costs`` (or the only one) is ``(n, d)``; ``cost_names`` gives its columns' names, and
    without it they are in the model's order.
    """
    if suffix_of(path) == ".npz":
        arrays, path = read_arrays(path), Path(path)
        name = main_array(path, arrays, "costs")
        values = finite(path, name, arrays[name])
        if values.ndim != 2 or (values.shape[1] != len(cost_names) and "cost_names" not in arrays):
            raise InputError(f"{path}: {name!r} must have shape (n, {len(cost_names)}), got {values.shape}")
        if "cost_names" in arrays:
            values = ordered(path, strings(path, arrays, "cost_names", values.shape[1]), values, cost_names, "cost")
        return Costs(values, instances(path, arrays, len(values)))
    # A variable of the model may be called "instance": then that column is its cost.
    table = read_table(path, keys=[key for key in KEYS if key not in cost_names and key != "variable"])
    instance = table.keys.get("instance")
    refuse_twice(table, instance)
    return Costs(ordered(table.path, table.names, table.values, cost_names, "cost"), instance)
