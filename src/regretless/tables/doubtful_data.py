"""Warnings about data that can be read and are probably wrong: their order, their units, a cost among the features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from regretless.errors import RegretlessWarning
from regretless.listing import listed
from regretless.milp import Floats
from regretless.number_text import number_text
from regretless.tables.cells import Cells
from regretless.tables.column_kinds import as_date

Range = tuple[float, float]
FEWEST = 10  # rows, with fewer of which nothing is said: equal columns and narrow ranges may be chance
# Units differ by 60, 100, 1000 or more. Costs of one unit may differ as much, but then there are some in between.
FACTOR = 50.0
SHARE = 0.1  # of all rows, of which either group of costs has at least so many
# Numbers of a later table that are all so many times smaller or larger are a matter of units, and not of the market.
LATER_FACTOR = 8.0


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
        _warn(
            f"the last rows of {source} are held out, but they are not the latest ones: {found[1]} comes after "
            f"{found[0]}. Sort the rows by date, or train with --split random"
        )


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
        _warn(
            f"the costs of {len(rows)} of the {len(costs)} rows of {source}, of which {first} is the first, are about "
            f"{number_text(factor)} times as large as those of the others: are the units the same in all rows?"
        )


def cost_feature(features: Floats, costs: Floats) -> tuple[int, int | None] | None:
    """Find a feature that equals a cost in every row.

    Args:
        features: ``(n, k)`` per instance, or ``(n, d, k)`` per variable.
        costs: ``(n, d)``.

    Returns:
        Column of the feature, and column of the cost, which is ``None`` for a feature per variable: it equals all
        costs. ``None`` where there is no such feature. A column with one value only does not count.

    >>> cost_feature(np.array([[0.0, 5.0], [0.0, 7.0]]), np.array([[1.0, 5.0], [2.0, 7.0]]))
    (1, 1)
    """
    per_variable = features.ndim == 3
    columns = [costs.ravel()] if per_variable else list(costs.T)
    for k in range(features.shape[-1]):
        feature = features[..., k].ravel()
        if feature.size and (feature != feature[0]).any():
            same = next((j for j, column in enumerate(columns) if np.array_equal(feature, column)), None)
            if same is not None:
                return k, None if per_variable else same
    return None


def warn_of_cost_feature(
    source: str, features: Floats, names: Sequence[str] | None, costs: Floats, cost_names: Sequence[str]
) -> None:
    """Warn where a column of a table of features is a true cost."""
    found = None if len(costs) < FEWEST else cost_feature(features, costs)
    if found is not None:
        feature, cost = found
        which = f"column {feature + 1}" if names is None else f"the column {names[feature]!r}"
        of = "each variable" if cost is None else repr(cost_names[cost])
        _warn(
            f"{which} of {source} equals the true cost of {of} in every row. If it is not known before the decision, "
            "leave it out: figures with it mean nothing"
        )


def range_of(values: Floats) -> Range | None:
    """Smallest and largest of the numbers of the training rows; ``None`` where they are few or constant.

    A column that is constant in training has no effect on predictions, so that it may change.
    """
    if len(values) < FEWEST or values.min() == values.max():
        return None
    return float(values.min()), float(values.max())


def far_outside(values: Floats, range: Range) -> int | None:
    """The first number far outside of a range; ``None`` where there is none.

    That is one outside by more than the width of the range. Where all numbers of training have one sign, numbers that
    are all much closer to zero are far outside, too: the width would not tell kilowatts from megawatts.

    >>> far_outside(np.array([4.0, 9.0]), (3.0, 5.0)), far_outside(np.array([0.004]), (3.0, 5.0))
    (1, 0)
    >>> far_outside(np.array([0.004]), (0.0, 5.0)) is None
    True
    """
    low, high = range
    width = high - low
    outside = (values < low - width) | (values > high + width)
    if low > 0 or high < 0:
        outside |= bool((LATER_FACTOR * np.abs(values) < min(abs(low), abs(high))).all())
    return int(outside.argmax()) if outside.any() else None


def warn_of_range(cells: Cells, columns: Mapping[str, tuple[Range, Floats]]) -> None:
    """Warn of columns with numbers ``(rows,)`` far outside of their range in training, once for a table."""
    said = []
    for name, (trained, values) in columns.items():
        row = far_outside(values, trained)
        if row is not None:
            line = f", first in {cells.lines[row]}" if cells.lines[row] and len(cells) > 1 else ""
            said.append(f"{name!r} has {_text(values.min(), values.max())} (in training {_text(*trained)}{line})")
    if said:
        _warn(
            f"{cells.source}: numbers far outside of those of training: {listed(said, most=3)}. Are the columns and "
            "units those of training? Predictions so far outside are not reliable"
        )


def _text(low: float, high: float) -> str:
    return number_text(low) if low == high else f"{number_text(low)} to {number_text(high)}"


def warn_of_scale(costs: Floats, known: Floats, *, source: str, run: str) -> None:
    """Warn where the costs ``(n, d)`` of new rows are much larger or smaller than those ``(m, d)`` of a run."""
    new, old = (float(np.quantile(np.abs(some), 0.5, method="lower")) for some in (costs, known))
    if min(new, old) > 0 and max(new, old) >= LATER_FACTOR * min(new, old):
        _warn(
            f"the costs of {source} are on another scale than those of {run}: half of them are above "
            f"{number_text(new)} in size, and of those of the run above {number_text(old)}; are the units the same?"
        )


def _warn(said: str) -> None:
    warnings.warn(said, RegretlessWarning, stacklevel=4)
