"""Checks of the numbers that losses are built with; each returns its number, so that an assignment holds it."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from regretless.errors import InputError
from regretless.number_checks import check_integer


def positive(name: str, value: Any) -> float:
    """Refuse what is not finite and greater than 0."""
    if not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise InputError(f"{name} must be positive, got {value!r}")
    return float(value)


def not_negative(name: str, value: Any) -> float:
    """Refuse what is not finite and at least 0."""
    if not isinstance(value, Real) or not 0 <= float(value) < math.inf:
        raise InputError(f"{name} must be at least 0, got {value!r}")
    return float(value)


def at_least_one(name: str, value: Any) -> int:
    """Refuse what is no integer, or one below 1."""
    if isinstance(value, Integral) and value < 1:
        raise InputError(f"{name} must be at least 1, got {value}")
    check_integer(name, value, least=1)
    return int(value)
