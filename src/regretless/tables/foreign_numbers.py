"""Text that looks like a number, a date or a time in a form that is not read as one: ``3,5``, ``5%``, ``1/2/2024``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from regretless.milp import Floats

# The form of a cell, and how to write it so that it is read.
_DIGITS = r"(?:\d{1,3}(?:[,.'\u2019\s]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
_GROUPED = re.compile(r"\d[,.'\u2019\s]\d{3}[,.'\u2019\s]\d")
_DAY, _TIME = r"\d{1,2}", r"\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AaPp]\.?[Mm]\.?)?"
_UNGROUPED = "without thousands separators"
FORMS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("a number", "numbers as 1234.5", re.compile(rf"[$€£]?\s*[+\-\u2212]?\s*{_DIGITS}\s*[%‰$€£]?")),
    (
        "a date",
        "dates as 2024-01-31",
        re.compile(rf"(?:{_DAY}([./-]){_DAY}\1(?:\d{{4}}|\d\d)|\d{{4}}([./-]){_DAY}\2{_DAY})(?:[ T]+{_TIME})?"),
    ),
    ("a time", "times as 09:30", re.compile(_TIME)),
)


def foreign_form(words: Sequence[str]) -> tuple[int, str, str] | None:
    """Find the form that more than half of the words of a column have, of those that are not read.

    Returns:
        Position of the first such word, what it looks like, and how to write it; ``None`` for ordinary words. Of
        numbers, one with a thousands separator and a second mark comes first: ``714,12`` alone may be read.

    >>> foreign_form(["3,0", "4,5"])
    (0, 'a number', 'numbers as 1234.5')
    >>> foreign_form(["714,12", "1.092,03"])
    (1, 'a number', 'numbers as 1234.5, without thousands separators')
    >>> foreign_form(["A1", "2-B", "1/2"]) is None
    True
    """
    for what, remedy, pattern in FORMS:
        rows = [i for i, word in enumerate(words) if pattern.fullmatch(word)]
        if 2 * len(rows) > len(words):
            grouped = [row for row in rows if what == "a number" and _GROUPED.search(words[row])]
            return (grouped[0], what, f"{remedy}, {_UNGROUPED}") if grouped else (rows[0], what, remedy)
    return None


def number_remedy(cell: Any) -> str:
    """What to do about a cell that is expected to be a number.

    >>> number_remedy("1.234,5"), number_remedy("windy")
    ('write numbers as 1234.5, without thousands separators', 'correct the cell')
    """
    _, remedy, pattern = FORMS[0]
    if not pattern.fullmatch(str(cell)):
        return "correct the cell"
    return f"write {remedy}, {_UNGROUPED}" if _GROUPED.search(str(cell)) else f"write {remedy}"


def are_compact_dates(values: Floats) -> bool:
    """Whether all numbers of a column are days written as 20240131, of the years 1900 to 2099.

    >>> import numpy as np
    >>> are_compact_dates(np.array([20240131.0, 20240201.0])), are_compact_dates(np.array([20240131.0, 20240132.0]))
    (True, False)
    """
    if not len(values) or not ((values >= 19000101) & (values <= 20991231) & (values % 1 == 0)).all():
        return False
    days, months = values % 100, values // 100 % 100
    return bool(((days >= 1) & (days <= 31) & (months >= 1) & (months <= 12)).all())
