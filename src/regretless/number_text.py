"""A number as text for people, in the tables and sentences of the command line."""

from __future__ import annotations

# From the first on, all digits before the point are written; from the second on, a power of ten is easier to read.
_WHOLE, _LARGE = 999.95, 1e15


def number_text(value: float) -> str:
    """Write a number with four significant digits or, where it is larger, all digits before the point.

    >>> number_text(1234567.891), number_text(12.34567), number_text(1.5e-6), number_text(4)
    ('1,234,568', '12.35', '1.5e-06', '4')
    """
    if _WHOLE <= abs(value) < _LARGE:
        return f"{value:,.0f}"
    return f"{value + 0.0:.4g}"  # -0.0 is 0
