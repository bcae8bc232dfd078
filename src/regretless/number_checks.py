"""Checks of the numbers that a user gives."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from regretless.errors import InputError

# Random generators of all packages take seeds up to here.
LARGEST_SEED = 2**32 - 2


def check_integer(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """Return an integer in a range; refuse anything else."""
    integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not integer or value < least or (most is not None and value > most):
        expected = f"an integer, at least {least}" if most is None else f"an integer from {least} to {most}"
        raise InputError(f"{name} must be {expected}, got {value!r}")
    return int(value)


def check_number(name: str, value: Any, *, least: float | None = None, most: float | None = None) -> float:
    """Return a finite number in a range, without ``least`` one above 0; refuse anything else."""
    number: Any = math.nan if isinstance(value, bool) or not isinstance(value, Real) else value
    low = number > 0 if least is None else number >= least
    if math.isfinite(number) and low and (most is None or number <= most):
        return float(value)
    expected = "a finite number above 0" if least is None else f"a finite number, at least {least:g}"
    if least is not None and most is not None:
        expected = f"between {least:g} and {most:g}"
    raise InputError(f"{name} must be {expected}, got {value!r}")


def check_numbers(
    *, seed: int = 0, epochs: int = 1, lr: float = 0.1, batch_size: int | None = None, patience: int = 0
) -> None:
    """Refuse numbers that no training can use."""
    check_integer("seed", seed, least=0, most=LARGEST_SEED)
    check_integer("epochs", epochs, least=0)
    check_number("lr", lr)
    if batch_size is not None:
        check_integer("batch_size", batch_size, least=1)
    check_integer("patience", patience, least=0)
