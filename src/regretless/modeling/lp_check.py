"""Find what HiGHS ignores, misreads or does not read in an ``.lp`` file."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from regretless.errors import FileError

COMMENT = re.compile(r"\\.*")
SENSE = re.compile(r"\s*(?:max|min)(?:imize|imum)?(?=\s)", re.IGNORECASE)
ROWS = re.compile(r"(?<!\S)(?:subject\s+to|such\s+that|s\.t\.|st\.?)(?=[\s:])", re.IGNORECASE)
# The sections that may follow the rows.
NEXT = re.compile(
    r"(?<!\S)(?:bounds?|(?P<binary>binar(?:y|ies)|bin)|generals?|gen|integers?|semi(?:s|-continuous|-integer)?|sos"
    r"|lazy\s+constraints|user\s+cuts|end)(?:\s*:)?(?!\S)",
    re.IGNORECASE,
)
BRACKET = re.compile(r"[^\s+\-<>=:*^\[\]]\[")  # in a name; others hold quadratic terms
# A name whose first letters HiGHS reads as a number, as in 2 inflow; inf and infinity alone are numbers.
NUMBER_NAME = re.compile(
    r"(?<![^\s+\-<>=:*^\[\]])(?!inf(?:inity)?(?![^\s+\-<>=:*^\[\]]))(?:inf|nan)[^\s+\-<>=:*^\[\]]*", re.IGNORECASE
)
# A variable with the name of a section, as in gen + x.
SECTION_NAME = re.compile(
    r"(?<!\S)(st|bounds?|binar(?:y|ies)|bin|generals?|gen|integers?|int|free|semi|end)[ \t]*(?=[+\-<>=])", re.IGNORECASE
)
COMPARISON = re.compile(r"[<>=]+")
TOKEN = re.compile(
    r"(?P<power>\^\s*\d+)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<compare>[<>=]+)|(?P<sign>[+-])"
    r"|(?P<colon>:)|(?P<number_word>inf(?:inity)?(?![^\s+\-<>=:*^\[\]]))|(?P<name>[^\s+\-<>=:*^\[\]]+)",
    re.IGNORECASE,
)


def refuse_misread(path: Path, text: str) -> None:
    """Refuse names with brackets, and what HiGHS reads as something else without a warning.

    The latter is a file that does not begin with the sense (``maximise``); a name that begins with ``inf`` or ``nan``;
    a number among the terms of a row, as in ``c: x + 3 >= 5``; and a number on the left side, as in
    ``c: 1 <= 2 x + y <= 3``.
    """
    plain = COMMENT.sub("", text)
    if not SENSE.match(plain):
        begin = " ".join(plain[:200].split())[:30]
        raise FileError(
            f"{path} must begin with minimize or maximize, got {begin!r}: it is not an .lp file, or damaged"
        )
    if name := next((word for word in plain.split() if BRACKET.search(word)), None):
        raise FileError(f"{path}: HiGHS reads no names with brackets, such as {name[:40]!r}: use .mps")
    if found := NUMBER_NAME.search(plain):
        raise FileError(
            f"{path}: HiGHS reads the first letters of the name {found[0][:40]!r} as a number: rename it, or use .mps"
        )
    before, row = "", ""  # kind of the last token that is no sign; name of the row
    tokens = [(found.lastgroup or "", found[0]) for found in TOKEN.finditer(_rows(plain))]
    for (kind, word), (follows, _) in pairwise([*tokens, ("", "")]):
        if kind == "name" and follows == "colon":
            row = word
        where = f"{path}: the row {row!r}" if row else f"{path}: a row"
        number = kind == "number" and float(word) != 0.0
        alone = follows in ("sign", "number") or (follows == "compare" and before == "name")
        if number and before != "compare" and alone:
            raise FileError(f"{where} has the number {word} among its terms: move it to the right side")
        if follows == "compare" and kind.startswith("number") and before != "name":
            remedy = unread_part(text) or "write a row with two sides as two rows, or use .mps"
            raise FileError(f"{where} has the number {word} on its left side: {remedy}")
        if kind != "sign":
            before = kind


def binary_names(text: str) -> set[str]:
    """Names of the variables in the section ``binary``; HiGHS keeps their bounds outside of 0 and 1."""
    plain = COMMENT.sub("", text)
    headings = [*NEXT.finditer(plain)]
    ends = [heading.start() for heading in headings[1:]] + [len(plain)]
    pairs = zip(headings, ends, strict=False)  # a file without sections has one end, and no heading
    found = (plain[one.end() : end] for one, end in pairs if one["binary"])
    return {name for names in found for name in names.split()}


def unread_part(text: str) -> str | None:
    """What HiGHS does not read in a file, with the remedy; ``None`` if nothing is known."""
    plain = COMMENT.sub("", text)
    for line in _rows(plain).splitlines():
        sides, row = COMPARISON.split(line), f"'{line.strip()}'"
        words = [any(map(str.isalpha, side.partition(":")[2] or side)) for side in sides]
        if len(sides) == 3 and ":" not in sides[1]:
            return f"HiGHS reads no row with two sides there: write {row} as two rows, or use .mps"
        if len(sides) == 2 and words[1] and ":" not in sides[1]:
            return f"HiGHS reads no variable on the right side: write those of {row} on the left"
    if odd := next((found[0] for found in COMPARISON.finditer(plain) if found[0] not in ("<=", ">=", "=")), None):
        return f"HiGHS reads <=, >= and =: correct {odd!r}"
    if word := SECTION_NAME.search(plain):
        return f"HiGHS takes the name {word[1]!r} for the heading of a section: rename it, or use .mps"
    if section := re.search(r"(?<!\S)(?:lazy\s+constraints|user\s+cuts)", plain, re.IGNORECASE):
        return f"HiGHS does not read the section {section[0]!r}: write its rows with the others"
    if not re.search(r"(?<!\S)end\s*$", plain, re.IGNORECASE):
        return "the line 'end' is missing: the file is cut off"
    return None


def _rows(plain: str) -> str:
    """The section of the rows of a text without comments."""
    start = ROWS.search(plain)
    if start is None:
        return ""
    end = NEXT.search(plain, start.end())
    return plain[start.end() : end.start() if end else len(plain)]
