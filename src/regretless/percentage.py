"""A share as percent, for people."""

from __future__ import annotations

import math


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
