"""Data frames of the user: columns of costs are matched by name, rows by position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from regretless.errors import InputError
from regretless.listing import listed, missing_and_unknown, probable


def by_name(costs: Any, names: Sequence[str] | None) -> Any:
    """Bring the columns of a data frame into the order of the model's costs; anything else is returned as it is.

    Columns without names of their own (0, 1, 2, ..., as pandas numbers them) keep their order, as in an array.

    Args:
        costs: a data frame of pandas, polars or the like, or anything else.
        names: of the costs, in the model's order; ``None`` where the model has no names.

    Raises:
        InputError: columns are missing, unknown or repeated.
    """
    columns = getattr(costs, "columns", None)
    if names is None or columns is None:
        return costs
    have = [str(column) for column in columns]
    if list(columns) == list(range(len(have))) and set(have) != set(names):
        return costs
    missing, unknown = missing_and_unknown(have, names)
    faults = {
        "missing": missing,
        "unknown": unknown,
        "twice": [name for name, count in Counter(have).items() if count > 1],
    }
    if any(faults.values()):
        parts = [f"{what}: {listed(some)}" for what, some in faults.items() if some]
        found = "; ".join(filter(None, [*parts, probable(have, names)]))
        raise InputError(
            f"the columns of costs must be the model's {len(names)} cost variables ({listed(names)}); {found}. "
            "Rename or drop columns, or pass an array to go by position"
        )
    place = dict(zip(have, columns, strict=True))
    return costs[[place[name] for name in names]]


def checked_names(names: Any, dimension: int) -> tuple[str, ...]:
    """Names of the costs as a tuple.

    Raises:
        InputError: not one name per cost, or names that cannot tell the costs apart.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"cost_names must be a list of {dimension} names, got {names!r}")
    found = tuple(names)
    if len(found) != dimension:
        raise InputError(f"cost_names must hold {dimension} names, got {len(found)}")
    wrong = [name for name in found if not isinstance(name, str)]
    if wrong:
        raise InputError(f"cost_names must be text, got {wrong[0]!r}")
    twice = [name for name, count in Counter(found).items() if count > 1]
    if twice:
        raise InputError(f"cost_names must differ, got {listed(twice)} more than once")
    return found


def refuse_other_rows(features: Any, costs: Any) -> None:
    """Refuse data frames of pandas whose indexes say that their rows are in another order, or are other rows.

    Indexes of integers are often just numbers of rows. They are compared only where both hold the same ones.

    Raises:
        InputError: both indexes hold the same labels in another order, or share only some labels that are no integers.
    """
    if not all(hasattr(frame, "columns") and hasattr(frame, "index") for frame in (features, costs)):
        return
    one, other = features.index, costs.index
    if len(one) != len(other) or one.equals(other):
        return
    here, there = set(one), set(other)
    numbers = any(getattr(index.dtype, "kind", "") in "iu" for index in (one, other))
    if here == there or (here & there and not numbers):
        place = next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        raise InputError(
            f"rows of features and costs are matched by position, but their indexes differ in row {place}: "
            f"{one[place]!s} and {other[place]!s}. Bring them into one order, for example with "
            "costs.loc[features.index], or pass arrays to ignore the indexes"
        )
