"""Numbers and shares as text for people."""

from __future__ import annotations

import math

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


def percentage(share: float) -> str:
    """Write a share in percent with two decimals, or with two digits where these would be zeros.

    >>> percentage(0.1234), percentage(0.00000123), percentage(0.0)
    ('12.34', '0.00012', '0.00')
    """
    value = 100 * share
    plain = f"{value:.2f}"
    if not value or not math.isfinite(value) or float(plain):
        return plain
    return f"{value:.2g}"
