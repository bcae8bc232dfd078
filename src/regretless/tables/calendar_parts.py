"""Parts of dates and times as numbers: the weekday, and points on the circles of the year and of the day."""

from __future__ import annotations

import calendar
import datetime as dt
import math

WEEKDAYS = tuple(f"weekday={day}" for day in ("mon", "tue", "wed", "thu", "fri", "sat", "sun"))
OF_DATE = (*WEEKDAYS, "year_sin", "year_cos", "day_sin", "day_cos")
OF_TIME = ("day_sin", "day_cos")


def parts_of(when: dt.datetime | dt.time) -> dict[str, float]:
    """All parts of a date with its time, or of a time of day.

    The time of the year is an angle, so that 31 December is next to 1 January; so is the time of the day.

    >>> parts_of(dt.datetime(2024, 1, 1))["weekday=mon"]
    1.0
    """
    seconds = when.hour * 3600 + when.minute * 60 + when.second
    parts = _circle("day", seconds / 86400)
    if isinstance(when, dt.datetime):
        days = 366 if calendar.isleap(when.year) else 365
        parts |= _circle("year", (when.timetuple().tm_yday - 1 + seconds / 86400) / days)
        parts |= {name: float(when.weekday() == day) for day, name in enumerate(WEEKDAYS)}
    return parts


def _circle(name: str, share: float) -> dict[str, float]:
    angle = 2 * math.pi * share
    return {f"{name}_sin": math.sin(angle), f"{name}_cos": math.cos(angle)}
