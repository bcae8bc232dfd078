"""Axes: where the ticks stand, what they say, and where a value lies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from regretless.report.numbers import MINUS, show

# Values further out cannot be drawn: the width of the axis would overflow.
LIMIT = 1e150


@dataclass(frozen=True)
class Axis:
    """A scale from data to pixels.

    Attributes:
        low, high: the data's ends.
        start, stop: their places in pixels.
        log: whether the scale is logarithmic.
    """

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def place(self, value: float) -> float:
        """Where a value lies, in pixels; values beyond the ends are moved to them."""
        low, high, value = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return self.start + (self.stop - self.start) * (value - low) / (high - low)

    def ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """Values with their labels."""
        values = _log_ticks(self.low, self.high, count) if self.log else []
        if len(values) < 2:
            values = _linear_ticks(self.low, self.high, count)
        step = min((b - a for a, b in pairwise(values)), default=1.0)
        return [(value, _label(value, None if self.log else step)) for value in values]


def axis(values: Sequence[float], start: float, stop: float, *, log: bool | None = None, whole: bool = False) -> Axis:
    """Build an axis around values.

    Args:
        values: finite numbers, at least one.
        start, stop: pixels of its ends.
        log: ``None`` decides: positive values that span more than a factor of 30.
        whole: keep the ends where the values end, as for epochs.
    """
    low, high = min(values), max(values)
    log = low > 1 / LIMIT and (high / low > 30 if log is None else log)
    if log:
        margin = 1.0 if whole else (high / low) ** 0.04
        low, high = low / margin, high * margin
        return Axis(low, high, start, stop, True) if high > low * 1.001 else Axis(low / 2, high * 2, start, stop, True)
    margin = 0.0 if whole else 0.06 * (high - low)
    if high - low <= max(1e-9 * max(abs(low), abs(high)), 1 / LIMIT):
        margin = 0.1 * abs(high) if abs(high) > 1 / LIMIT else 1.0
    # Nothing here is ever negative unless a value is.
    return Axis(max(low - margin, 0.0) if low >= 0 and not whole else low - margin, high + margin, start, stop)


def drawable(value: float | None) -> bool:
    """Whether a value can stand on an axis."""
    return value is not None and math.isfinite(value) and abs(value) < LIMIT


def _linear_ticks(low: float, high: float, count: int) -> list[float]:
    raw = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((factor * power for factor in (1, 2, 2.5, 5, 10)), key=lambda step: abs((high - low) / step - count))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def _log_ticks(low: float, high: float, count: int) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    stride = max(1, math.ceil((last - first) / (count + 2)))
    for factors in ((1, 2, 5), (1, 3), (1,)):
        values = [f * 10.0**e for e in range(first, last + 1, stride) for f in (factors if stride == 1 else (1,))]
        values = [value for value in values if low * 0.999 <= value <= high * 1.001]
        if len(values) <= count + 2:
            break
    return values


def _label(value: float, step: float | None) -> str:
    if value == 0:
        return "0"
    if step is None or not 1e-4 <= abs(step) < 1e7 or abs(value) >= 1e7:
        return show(value, digits=3) if not 1e-4 <= abs(value) < 1e7 else f"{value:,g}".replace("-", MINUS)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    units = step * 10.0**places
    if abs(units - round(units)) > 1e-6:  # a step of 2.5 needs one more
        places += 1
    return f"{value:,.{places}f}".replace("-", MINUS)
