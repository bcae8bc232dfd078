"""Whether rows that are named by dates are in the order of time, on which a chronological split relies."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise

from regretless.errors import RegretlessWarning
from regretless.tables.column_kinds import as_date


def first_before(names: Sequence[str]) -> tuple[str, str] | None:
    """The first date that follows a later one, with that one; ``None`` where dates rise, or some names are no dates.

    >>> first_before(["2024-01-01", "2024-01-03", "2024-01-02"])
    ('2024-01-03', '2024-01-02')
    """
    dates = [date for name in names if (date := as_date(name)) is not None]
    if len(dates) < len(names) or len({date.tzinfo is None for date in dates}) > 1:
        return None
    pairs = zip(pairwise(names), pairwise(dates), strict=True)
    return next((pair for pair, (first, second) in pairs if first > second), None)


def warn_of_order(source: str, names: Sequence[str] | None, held_out: float) -> None:
    """Warn where rows are held out from the end of a table that does not end with the latest ones."""
    found = None if names is None or not held_out else first_before(names)
    if found is not None:
        warnings.warn(
            f"the last rows of {source} are held out, but they are not the latest ones: {found[1]} comes after "
            f"{found[0]}. Sort the rows by date, or train with --split random",
            RegretlessWarning,
            stacklevel=3,
        )
