"""The time limit of one solve: checked once, where a setting enters."""

from __future__ import annotations

import math

from regretless.errors import InputError
from regretless.tensors import NOT_NUMBERS

# Seconds from which on a limit is none: operating systems wait for at most 2^31 milliseconds, 24 days, and a solve is
# given up on after twice its limit.
LONGEST = 1e6


def check_time_limit(time_limit: float | None, *, name: str = "time_limit") -> float:
    """Return the limit in seconds, infinite for ``None``.

    Raises:
        InputError: not a positive number.
    """
    if time_limit is None:
        return math.inf
    try:
        seconds = float(time_limit)
    except NOT_NUMBERS:
        seconds = math.nan
    if not seconds > 0:
        raise InputError(f"{name} must be positive seconds or None, got {_short(time_limit)}")
    return seconds


def limit_or_none(time_limit: float | None, *, name: str = "time_limit") -> float | None:
    """Return the limit in seconds; ``None`` where there is none, or one of more than eleven days.

    Raises:
        InputError: not a positive number.
    """
    seconds = check_time_limit(time_limit, name=name)
    return seconds if seconds <= LONGEST else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
