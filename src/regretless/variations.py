"""Variations of one model: other sides of rows, bounds or known costs, one set of them per instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.listing import listed
from regretless.milp import MILP, Floats, with_infinities
from regretless.tensors import NOT_NUMBERS

# What can vary, and whether it belongs to the rows.
PARTS = {"row_lower": True, "row_upper": True, "lower": False, "upper": False, "fixed_cost": False}
PAIRS = (("row_lower", "row_upper"), ("lower", "upper"))


@dataclass(frozen=True)
class Crossed:
    """A variation that leaves nothing between two bounds."""

    member: int
    part: str
    place: int
    name: str
    low: float
    high: float


def varied(milp: MILP, given: Mapping[str, Any]) -> list[MILP] | None:
    """Make one model per member.

    Args:
        milp: what does not vary.
        given: by name of a vector of the model, an array ``(members, length)``, or a mapping or data frame from names
            to ``(members,)`` values; ``None`` where it does not vary.

    Returns:
        The models, which share their rows, or ``None`` where nothing varies.

    Raises:
        InputError: an unknown name, a wrong shape, numbers of members that differ, or bounds that are crossed.
    """
    arrays = {part: complete(milp, part, values) for part, values in given.items() if values is not None}
    if not arrays:
        return None
    counts = {part: len(values) for part, values in arrays.items()}
    if len(set(counts.values())) > 1:
        got = ", ".join(f"{part} has {count}" for part, count in counts.items())
        raise InputError(f"all that varies must have one row per member: {got}")
    bad = first_crossed(milp, arrays)
    if bad is not None:
        what = "row" if PARTS[bad.part] else "variable"
        raise InputError(
            f"member {bad.member} leaves nothing between the bounds {bad.low:g} and {bad.high:g} "
            f"of the {what} {bad.name}"
        )
    members = next(iter(counts.values()))
    return [milp.replaced(**{part: values[i] for part, values in arrays.items()}) for i in range(members)]


def complete(milp: MILP, part: str, values: Any) -> Floats:
    """One row ``(length,)`` per member: the model's own vector, with what was given in its places."""
    own: Floats = milp.written(part)
    columns = getattr(values, "columns", None)
    if columns is None and not isinstance(values, Mapping):
        return _checked(part, values, (None, len(own)))
    names = [str(name) for name in (values if columns is None else columns)]
    where = positions(milp, part, names)
    table = [
        _checked(f"{part} of {str(name)!r}", values[name], (None,))
        for name in (columns if columns is not None else values)
    ]
    if len({len(column) for column in table}) > 1:
        raise InputError(
            f"all columns of {part} must have one value per member, got {[len(column) for column in table]}"
        )
    full = np.tile(own, (len(table[0]) if table else 0, 1))
    for place, column in zip(where, table, strict=True):
        full[:, place] = column
    return full


def positions(milp: MILP, part: str, names: Sequence[str]) -> list[int]:
    """Places of named rows or variables in a vector of the model.

    Raises:
        InputError: the model has no names, or not this one.
    """
    known, what = (milp.row_names, "row") if PARTS[part] else (milp.names, "variable")
    if known is None:
        how = " (read models with keep_rows=True)" if what == "row" else ""
        raise InputError(f"the {what}s of this model have no names{how}: give {part} as an array (members, {what}s)")
    place = {name: i for i, name in enumerate(known)}
    for name in names:
        if name not in place:
            raise InputError(f"{part}: the model has no {what} {name!r}; its {what}s are {listed(known)}")
    return [place[name] for name in names]


def first_crossed(milp: MILP, arrays: Mapping[str, Floats]) -> Crossed | None:
    """The first member and place that leaves nothing between its bounds."""
    for low_part, high_part in PAIRS:
        given = [part for part in (low_part, high_part) if part in arrays]
        if not given:
            continue
        shape = arrays[given[0]].shape
        low, high = (np.broadcast_to(arrays.get(part, milp.written(part)), shape) for part in (low_part, high_part))
        bad = np.argwhere((low > high) | (low == np.inf) | (high == -np.inf))
        if len(bad):
            i, j = (int(index) for index in bad[0])
            names = milp.row_names if PARTS[low_part] else milp.names
            name = str(j) if names is None else repr(names[j])
            changed = [part for part in given if arrays[part][i, j] != milp.written(part)[j]]
            return Crossed(i, (changed or given)[-1], j, name, float(low[i, j]), float(high[i, j]))
    return None


def _checked(what: str, values: Any, shape: tuple[int | None, ...]) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except NOT_NUMBERS as error:
        raise InputError(f"{what} must be numbers, got {type(values).__name__}: {error}") from error
    if array.ndim != len(shape) or any(side not in (None, have) for side, have in zip(shape, array.shape, strict=True)):
        expected = ", ".join("members" if side is None else str(side) for side in shape)
        raise InputError(f"{what} must have shape ({expected}{',' if len(shape) == 1 else ''}), got {array.shape}")
    if np.isnan(array).any() or (what.startswith("fixed_cost") and not np.isfinite(array).all()):
        raise InputError(f"{what} must not be NaN{' or infinite' if what.startswith('fixed_cost') else ''}")
    return with_infinities(array) + 0.0
