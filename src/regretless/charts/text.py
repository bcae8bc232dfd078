"""Text for people: numbers with the digits that carry meaning, and characters that a page can hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

MISSING = "–"
MINUS = "\N{MINUS SIGN}"
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
# Beyond these a power of ten is easier to read than digits.
_LARGE, _SMALL = 1e6, 1e-4
# Within one column, numbers further apart than this do not share a number of decimals.
_SPREAD = 1e2
# Neither XML nor HTML has a way to write these.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def number(value: object) -> float | None:
    """Read a number from a file: ``None`` for what is none; not-a-number and infinity stay.

    >>> number("12.5"), number(True), number(""), number(10**400)
    (12.5, None, None, inf)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if not str(value).startswith("-") else -math.inf
    except ValueError:
        return None


def finite(values: Iterable[float | None]) -> list[float]:
    """Keep what can be counted with."""
    return [value for value in values if value is not None and math.isfinite(value)]


def decimals(values: Iterable[float | None], *, digits: int = 3) -> int | None:
    """Decimals that give the smallest number of a column its digits; ``None`` where they differ too much to share.

    >>> decimals([747.27, 1177.25]), decimals([0.037, 0.34]), decimals([0.001, 5000.0])
    (0, 4, None)
    """
    sizes = [abs(value) for value in finite(values) if value]
    if not sizes:
        return 0
    if max(sizes) >= _LARGE or min(sizes) < _SMALL or max(sizes) / min(sizes) > _SPREAD:
        return None
    return max(0, digits - 1 - math.floor(math.log10(min(sizes))))


def show(value: float | None, places: int | None = None, *, digits: int = 4) -> str:
    """Write a number with ``places`` decimals, or with ``digits`` significant digits where that is ``None``.

    >>> show(11040.0, 0), show(0.04712), show(1.5e9), show(None), show(float("nan"))
    ('11,040', '0.04712', '1.5 × 10⁹', '–', 'NaN')
    """
    if value is None:
        return MISSING
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if value and not _SMALL <= abs(value) < _LARGE:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        text = f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"
    else:
        if places is None:
            places = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
        text = f"{value:,.{places}f}"
    return text.replace("-", MINUS)


def show_seconds(value: float | None) -> str:
    """Write a duration.

    >>> show_seconds(0.5), show_seconds(75.0), show_seconds(7260.0)
    ('0.5 s', '1 min 15 s', '2 h 1 min')
    """
    if value is None or not math.isfinite(value):
        return show(value)
    if value < 60:
        return f"{value:.3g} s"
    if value < 3600:
        return f"{int(value // 60)} min {int(value % 60)} s"
    return f"{int(value // 3600):,} h {int(value % 3600 // 60)} min"


def printable(text: str) -> str:
    """Replace the characters that no XML or HTML file can hold.

    >>> printable("a\\x00b")
    'a\ufffdb'
    """
    return _CONTROL.sub("\ufffd", text)
