"""Limits, ticks and tick labels of one axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from regretless.charts.numbers import MINUS, show

# Larger values cannot be drawn: the width of the axis would overflow.
LIMIT = 1e100
# Positive values that span more than this factor get a logarithmic axis, unless the caller decides.
LOG_SPAN = 30.0


def drawable(value: float | None) -> bool:
    """Whether a value has a place on an axis."""
    return value is not None and math.isfinite(value) and abs(value) < LIMIT


def scale_axis(
    axes: Any, name: str, values: Sequence[float], *, log: bool | None = None, tight: bool = False, count: int = 5
) -> str:
    """Set scale, limits and ticks of an axis.

    Args:
        axes: the panel, a matplotlib ``Axes``.
        name: ``"x"`` or ``"y"``.
        values: what the axis must hold, at least one drawable number.
        log: logarithmic or not; ``None`` decides by the span of the values. Values of zero or less forbid it.
        tight: no margin and integer ticks, as for epochs.
        count: about how many ticks.

    Returns:
        ``", log scale"`` where the scale is logarithmic, else an empty string, for the title of the axis.
    """
    low, high = min(values), max(values)
    log = low > 1 / LIMIT and (high / low > LOG_SPAN if log is None else log)
    low, high = _limits(low, high, log=log, tight=tight)
    ticks = _ticks(low, high, log=log, integer=tight, count=count)
    step = None if log else min((b - a for a, b in pairwise(ticks)), default=1.0)
    if log:
        getattr(axes, f"set_{name}scale")("log")
    getattr(axes, f"set_{name}lim")(low, high)
    getattr(axes, f"set_{name}ticks")(ticks, [_label(tick, step) for tick in ticks])
    getattr(axes, f"set_{name}ticks")([], minor=True)
    return ", log scale" if log else ""


def _limits(low: float, high: float, *, log: bool, tight: bool) -> tuple[float, float]:
    if log:
        margin = (high / low) ** (0.0 if tight else 0.04)
        return (low / margin, high * margin) if high > low * 1.001 else (low / 2, high * 2)
    margin = 0.0 if tight else 0.06 * (high - low)
    if high - low <= max(1e-9 * max(abs(low), abs(high)), 1 / LIMIT):
        margin = 0.1 * abs(high) if abs(high) > 1 / LIMIT else 1.0
    # The axis of values that are never negative does not go below zero.
    return max(low - margin, 0.0) if low >= 0 else low - margin, high + margin


def _ticks(low: float, high: float, *, log: bool, integer: bool, count: int) -> list[float]:
    from matplotlib.ticker import LogLocator, MaxNLocator

    values: list[float] = []
    for factors in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)) if log else ():
        values = _inside(LogLocator(subs=factors, numticks=count + 2).tick_values(low, high), low, high)
        if len(values) <= count + 2:
            break
    if len(values) < 2:
        linear = MaxNLocator(count, steps=[1, 2, 2.5, 5, 10], integer=integer)
        values = _inside(linear.tick_values(low, high), low, high)
    return values


def _inside(values: Sequence[float], low: float, high: float) -> list[float]:
    slack = 1e-9 * (high - low)
    return sorted({float(value) for value in values if low - slack <= value <= high + slack})


def _label(value: float, step: float | None) -> str:
    """Write a tick with the decimals that its step needs; ``None`` is the step of a logarithmic axis."""
    if step is None or not 1e-4 <= step < 1e7 or abs(value) >= 1e7:
        if value and not 1e-4 <= abs(value) < 1e7:
            return show(value, digits=3)
        return (f"{value:,.0f}" if value == round(value) else f"{value:g}").replace("-", MINUS)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    units = step * 10.0**places
    places += abs(units - round(units)) > 1e-6  # a step of 2.5 needs one more
    return f"{value:,.{places}f}".replace("-", MINUS) if value else "0"
