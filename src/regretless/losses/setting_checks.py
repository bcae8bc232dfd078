"""Checks of the numbers that losses are built with; each returns its number, so that an assignment holds it."""

from __future__ import annotations

import math

from regretless.errors import InputError


def positive(name: str, value: float) -> float:
    """Refuse what is not finite and greater than 0."""
    if not 0 < value < math.inf:
        raise InputError(f"{name} must be positive, got {value}")
    return float(value)


def not_negative(name: str, value: float) -> float:
    """Refuse what is not finite and at least 0."""
    if not 0 <= value < math.inf:
        raise InputError(f"{name} must be at least 0, got {value}")
    return float(value)


def at_least_one(name: str, value: int) -> int:
    """Refuse a count below 1."""
    if value < 1:
        raise InputError(f"{name} must be at least 1, got {value}")
    return value
