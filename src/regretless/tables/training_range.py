"""Whether the numbers of a table are in the range of the training rows: wrong units and exchanged columns show here."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from regretless.errors import RegretlessWarning
from regretless.listing import listed
from regretless.milp import Floats
from regretless.number_text import number_text
from regretless.tables.cells import Cells

Range = tuple[float, float]
# The range of fewer numbers says little about others.
FEWEST = 10
# Numbers that are all this many times smaller than the smallest one of training are probably in another unit.
FACTOR = 8.0


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
        outside |= bool((FACTOR * np.abs(values) < min(abs(low), abs(high))).all())
    return int(outside.argmax()) if outside.any() else None


def warn_of_range(cells: Cells, columns: Mapping[str, tuple[Range, Floats]]) -> None:
    """Warn of columns with numbers far outside of the range of training, once for a table.

    Args:
        cells: of the table, for the message.
        columns: the numbers ``(rows,)`` of columns and their ranges in training.
    """
    said = []
    for name, (trained, values) in columns.items():
        row = far_outside(values, trained)
        if row is not None:
            line = f", first in {cells.lines[row]}" if cells.lines[row] and len(cells) > 1 else ""
            said.append(f"{name!r} has {_text(values.min(), values.max())} (in training {_text(*trained)}{line})")
    if said:
        warnings.warn(
            f"{cells.source}: numbers far outside of those of training: {listed(said, most=3)}. Are the columns and "
            "units those of training? Predictions so far outside are not reliable",
            RegretlessWarning,
            stacklevel=3,
        )


def _text(low: float, high: float) -> str:
    return number_text(low) if low == high else f"{number_text(low)} to {number_text(high)}"
