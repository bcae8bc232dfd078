"""Checks of the objects that a user gives."""

from __future__ import annotations

from typing import Any

from regretless.errors import InputError


def check_type(name: str, value: Any, kind: type, *, hint: str = "") -> None:
    """Refuse an object of another type, and a class in place of an object."""
    if isinstance(value, kind):
        return
    got = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    raise InputError(f"{name} must be {article} {kind.__name__}, got {got}" + (f": {hint}" if hint else ""))
