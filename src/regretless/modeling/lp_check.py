"""Find what HiGHS ignores or does not read in the rows of an ``.lp`` file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from regretless.errors import FileError

COMMENT = re.compile(r"\\.*")
ROWS = re.compile(r"^[ \t]*(?:subject[ \t]+to|such[ \t]+that|s\.t\.|st\.?)(?=[\s:])", re.MULTILINE | re.IGNORECASE)
# The sections that may follow the rows.
NEXT = re.compile(
    r"^[ \t]*(?:bounds?|binar(?:y|ies)|bin|generals?|gen|integers?|int|semi(?:s|-continuous|-integer)?|sos[12]?"
    r"|lazy constraints|user cuts|end)[ \t]*:?[ \t\r]*$",
    re.MULTILINE | re.IGNORECASE,
)
COMPARISON = re.compile(r"[<>=]+")
TOKEN = re.compile(
    r"(?P<power>\^\s*\d+)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<compare>[<>=]+)|(?P<sign>[+-])"
    r"|(?P<colon>:)|(?P<name>[^\s+\-<>=:*^\[\]]+)"
)


def refuse_constants(path: Path, text: str) -> None:
    """Refuse a number among the terms of a row, as in ``c: x + 3 >= 5``: HiGHS reads the row without it.

    Raises:
        FileError: the message names the row.
    """
    before, row = "", ""  # kind of the last token that is no sign; name of the row
    for (kind, word), (follows, _) in pairwise([*_tokens(_rows(text)), ("", "")]):
        if kind == "name" and follows == "colon":
            row = word
        alone = follows in ("sign", "number") or (follows == "compare" and before == "name")
        if kind == "number" and before != "compare" and alone and float(word):
            where = f"the row {row!r}" if row else "a row"
            raise FileError(f"{path}: {where} has the number {word} among its terms: move it to the right side")
        if kind != "sign":
            before = kind


def unread_row(text: str) -> str | None:
    """What HiGHS does not read in the rows of a file, with the remedy; ``None`` if nothing is known."""
    for line in _rows(text).splitlines():
        sides, row = COMPARISON.split(line), f"'{line.strip()}'"
        words = [any(map(str.isalpha, side.partition(":")[2] or side)) for side in sides]
        if len(sides) == 3 and ":" not in sides[1] and words[1]:
            return f"HiGHS reads no row with two sides there: write {row} as two rows, or use .mps"
        if len(sides) == 2 and words[1] and ":" not in sides[1]:
            return f"HiGHS reads no variable on the right side: write those of {row} on the left"
        if "=>" in line or "=<" in line:
            return f"HiGHS reads <= and >=: correct {row}"
    return None


def _rows(text: str) -> str:
    """The section of the rows, without comments."""
    plain = COMMENT.sub("", text)
    start = ROWS.search(plain)
    if start is None:
        return ""
    end = NEXT.search(plain, start.end())
    return plain[start.end() : end.start() if end else len(plain)]


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    for found in TOKEN.finditer(text):
        yield found.lastgroup or "", found[0]
