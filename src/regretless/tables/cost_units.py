"""Whether all rows of a table of true costs are on one scale: a change of units inside of a table shows here."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from regretless.errors import RegretlessWarning
from regretless.milp import Floats
from regretless.number_text import number_text

# Units differ by 60, 100, 1000 or more. Costs of one unit may differ as much, but then there are some in between.
FACTOR = 50.0
# Either group has at least so many rows, and this share of all.
FEWEST, SHARE = 10, 0.1


def rows_of_another_scale(costs: Floats) -> tuple[list[int], float] | None:
    """Find rows whose costs are much larger than those of all others, with none in between.

    Args:
        costs: ``(n, d)``.

    Returns:
        Positions of the rows with the larger costs, and how many times larger they are; ``None`` where all rows are on
        one scale. The scale of a row is the median size of its costs that are not zero.

    >>> rows_of_another_scale(np.array([[1.0, 2.0]] * 10 + [[1000.0, 2000.0]] * 10))[1]
    1000.0
    """
    sizes = np.abs(costs)
    rows = np.flatnonzero(sizes.any(axis=1))
    least = max(FEWEST, int(SHARE * len(rows)))
    if len(rows) < 2 * least:
        return None
    scales = np.nanmedian(np.where(sizes[rows] > 0, sizes[rows], np.nan), axis=1)
    ascending = np.sort(scales)
    steps = ascending[least : -least + 1] / ascending[least - 1 : -least]
    if steps.max() < FACTOR:
        return None
    larger = scales >= ascending[least + int(steps.argmax())]
    return rows[larger].tolist(), float(np.median(scales[larger]) / np.median(scales[~larger]))


def warn_of_two_units(source: str, costs: Floats, names: Sequence[str] | None) -> None:
    """Warn where some rows of a table of costs are on another scale than all others."""
    found = rows_of_another_scale(costs)
    if found is not None:
        rows, factor = found
        first = f"row {rows[0]} (counted from 0)" if names is None else repr(names[rows[0]])
        warnings.warn(
            f"the costs of {len(rows)} of the {len(costs)} rows of {source}, of which {first} is the first, are about "
            f"{number_text(factor)} times as large as those of the others: are the units the same in all rows?",
            RegretlessWarning,
            stacklevel=3,
        )
