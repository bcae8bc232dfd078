"""The time limit of one solve: checked once, where a setting enters."""

from __future__ import annotations

import math

from regretless.errors import InputError
from regretless.tensors import NOT_NUMBERS


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


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
