"""True costs from files, in the order of a model's variables, and features in the order of the costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regretless.errors import InputError
from regretless.listing import listed
from regretless.milp import Floats
from regretless.tables.features import Features
from regretless.tables.npz_file import finite, main_array, read_arrays, strings
from regretless.tables.read_table import read_table
from regretless.tables.table import ordered, suffix_of


@dataclass(frozen=True, eq=False)
class Costs:
    """True costs ``(n, d)`` in the order of the model's cost variables, and the names of the instances, if any."""

    values: Floats
    instance: tuple[str, ...] | None


def read_costs(path: Path | str, cost_names: Sequence[str], *, id: str = "instance") -> Costs:
    """Read true costs: one row per instance, one column per cost variable in any order, and maybe ``id``.

    In an NPZ file the array ``costs`` (or the only one) is ``(n, d)``; ``cost_names`` holds the names of its columns,
    and without it they are in the order of the model.
    """
    if suffix_of(path) == ".npz":
        arrays, path = read_arrays(path), Path(path)
        name = main_array(path, arrays, "costs")
        values = finite(path, name, arrays[name])
        if values.ndim != 2 or (values.shape[1] != len(cost_names) and "cost_names" not in arrays):
            raise InputError(f"{path}: {name!r} must have shape (n, {len(cost_names)}), got {values.shape}")
        have = strings(path, arrays, "cost_names", values.shape[1])
        values = values if have is None else ordered(path, have, values, cost_names, "cost")
        return Costs(values, strings(path, arrays, "instance", len(values)))
    # A variable of the model may be called "instance": then that column holds its cost.
    table = read_table(path, id=None if id in cost_names else id)
    return Costs(ordered(table.path, table.names, table.values, cost_names, "cost"), table.instances)


def matched(features: Features, costs: Costs, *, names: tuple[str, str]) -> Features:
    """Return features in the order of the costs: by the column ``instance`` if both have one, else row by row.

    Args:
        features: features in any order.
        costs: costs, whose order is kept.
        names: names of the two files, for messages.
    """
    if features.instance is None or costs.instance is None:
        n, m = len(features.values), len(costs.values)
        if n != m:
            raise InputError(f"{names[0]} has {n} instances and {names[1]} has {m}; the numbers must be equal")
        return features if features.instance is not None else replace(features, instance=costs.instance)
    order = order_of(features.instance, costs.instance, names=names)
    return replace(features, values=features.values[order], instance=costs.instance)


def order_of(have: Sequence[str], wanted: Sequence[str], *, names: tuple[str, str]) -> list[int]:
    """Positions of the wanted instances; the error for instances of only one of two files names them."""
    for one, other, what in ((have, wanted, names), (wanted, have, names[::-1])):
        alone = sorted(set(one) - set(other))
        if alone:
            raise InputError(f"{len(alone)} instances of {what[0]} are not in {what[1]}: {listed(alone)}")
    place = {instance: i for i, instance in enumerate(have)}
    return [place[instance] for instance in wanted]
