"""Scale, limits and ticks of one axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from regretless.charts.text import MINUS, show

# Larger values cannot be drawn: the width of the axis would overflow.
LIMIT = 1e100
# Positive values that span more than this factor get a logarithmic axis, unless the caller decides.
LOG_SPAN = 30.0
# Inches that a character of a tick label takes.
CHARACTER = 0.078
# Ticks per power of ten of a logarithmic axis.
LOG_STEPS = ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))


def drawable(value: float | None) -> bool:
    """Whether a value has a place on an axis."""
    return value is not None and math.isfinite(value) and abs(value) < LIMIT


def is_log(values: Sequence[float], log: bool | None = None) -> bool:
    """Whether an axis is logarithmic: ``None`` decides by the span, and a value of zero or less rules it out.

    >>> is_log([1.0, 100.0]), is_log([1.0, 2.0]), is_log([1.0, 2.0], log=True), is_log([0.0, 2.0], log=True)
    (True, False, True, False)
    """
    low, high = min(values), max(values)
    return low > 1 / LIMIT and (high / low > LOG_SPAN if log is None else log)


def scale_axis(axes: Any, name: str, values: Sequence[float], *, log: bool | None = None, epochs: bool = False) -> str:
    """Set scale, limits and ticks of an axis.

    Args:
        axes: the panel, an ``Axes`` of matplotlib.
        name: ``"x"`` or ``"y"``.
        values: what the axis must hold, at least one drawable number.
        log: as for ``is_log``.
        epochs: no margin, and ticks at integers only.

    Returns:
        ``", log scale"`` for the title of a logarithmic axis, else an empty string.
    """
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    low, high = min(values), max(values)
    log = is_log(values, log)
    margin = 0.0 if epochs else 0.05
    if log:
        getattr(axes, f"set_{name}scale")("log")
        factor = max((high / low) ** margin, 1.1 if high / low < 1.001 else 1.0)
        limits = low / factor, high * factor
    else:
        reach = margin * (high - low) if high - low > 1e-9 * abs(high) else 0.1 * abs(high)
        reach = reach or (0.0 if high > low else 1.0)
        # The axis of values that are never negative does not go below zero.
        limits = (max(low - reach, 0.0) if low >= 0 else low - reach), high + reach
    getattr(axes, f"set_{name}lim")(*limits)
    locator = MaxNLocator(6 if name == "x" else 7, steps=[1, 2, 2.5, 5, 10], integer=epochs)
    if log and limits[1] / limits[0] > 5:
        locator = _log_locator(axes, name, limits)
    elif name == "x" and not _labels_fit(axes, locator, limits):
        locator.set_params(nbins=3)
    axis = getattr(axes, f"{name}axis")
    axis.set_major_locator(locator)
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_label(value)))
    axis.set_minor_locator(NullLocator())
    return ", log scale" if log else ""


def _log_locator(axes: Any, name: str, limits: tuple[float, float]) -> Any:
    """Ticks at round numbers: as many per power of ten as there is room for."""
    from matplotlib.ticker import LogLocator

    span = limits[1] / limits[0]
    wanted = LOG_STEPS[0 if span < 100 else 1 if span < 10_000 else 2 :]
    locators = [LogLocator(subs=steps, numticks=7) for steps in wanted]
    return next((one for one in locators[:-1] if name == "y" or _labels_fit(axes, one, limits)), locators[-1])


def _labels_fit(axes: Any, locator: Any, limits: tuple[float, float]) -> bool:
    """Whether the labels of the ticks do not run into each other below the panel."""
    width = axes.figure.get_figwidth() * axes.get_position().width
    labels = [tick_label(tick) for tick in locator.tick_values(*limits) if limits[0] <= tick <= limits[1]]
    return bool(CHARACTER * sum(len(label) + 2 for label in labels) < width)


def tick_label(value: float) -> str:
    """Write the number beside a tick.

    >>> tick_label(-1250.0), tick_label(0.1 + 0.2), tick_label(2e9)
    ('\N{MINUS SIGN}1,250', '0.3', '2 × 10⁹')
    """
    plain = value == 0 or 1e-4 <= abs(value) < 1e7
    return f"{value:,.10g}".replace("-", MINUS) if plain else show(value, digits=3)
