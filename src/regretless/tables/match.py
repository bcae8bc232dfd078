"""Features and costs that belong to the same instances."""

from __future__ import annotations

from dataclasses import replace

from regretless.errors import InputError
from regretless.tables.columns import listed
from regretless.tables.costs import Costs
from regretless.tables.features import Features


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


def _refuse_difference(left: tuple[str, ...], right: tuple[str, ...], names: tuple[str, str]) -> None:
    for some, others, a, b in ((left, right, *names), (right, left, *reversed(names))):
        alone = sorted(set(some) - set(others))
        if alone:
            raise InputError(f"{len(alone)} instances of {a} are not in {b}: {listed(alone)}")
