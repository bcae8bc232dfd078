"""Rows of two data frames belong together by position; indexes that contradict this are refused."""

from __future__ import annotations

from typing import Any

from regretless.errors import InputError


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
