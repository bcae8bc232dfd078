"""What separates the cells of a CSV file: a comma, a semicolon or a tab, as its header or a line ``sep=;`` says."""

from __future__ import annotations

import re

from regretless.errors import InputError

NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}
# A cell of the header, up to a separator or the end of the line. Quotes count only at its start, as for csv.reader.
_CELL = re.compile(r'(?:"[^"]*")*[^,;\t\r\n]*')
# Excel reads this line above the header, and programs that write for Excel write it.
_DECLARED = re.compile(r'"?sep=([^"\r\n]*)"?(?:\r\n|\r|\n|$)', re.IGNORECASE)


def find_separator(source: str, text: str) -> tuple[str, int]:
    """Find the separator of a CSV file.

    The rows below the header have no say: a comma in them may be a decimal mark, a semicolon part of a text.

    Args:
        source: the file, for messages.
        text: its beginning.

    Returns:
        The separator (a comma for one column), and the number of lines above the header: 1 with a line ``sep=;``.

    Raises:
        InputError: the header has several separators outside of quotes, or the first line declares another one.

    >>> find_separator("x.csv", 'day;"wind, m/s"'), find_separator("x.csv", "sep=;\\nday;wind, m/s")
    ((';', 0), (';', 1))
    """
    declared = _DECLARED.match(text)
    found = _separators(text[declared.end() :] if declared else text)
    if declared is None:
        if len(found) > 1:
            raise InputError(
                f"{source}, line 1: the names of the columns are separated by a {_listed(found)}: put names with "
                "one of them into quotes, or write a line with the separator above the names, such as sep=;"
            )
        return found.pop() if found else ",", 0
    separator = declared[1]
    if separator not in NAMES:
        raise InputError(f"{source}, line 1: sep= must be followed by a comma, a semicolon or a tab, got {separator!r}")
    if found and separator not in found:
        raise InputError(
            f"{source}, line 1: sep= declares a {NAMES[separator]}, but the names of the columns are separated by a "
            f"{_listed(found)}: correct the line, or leave it out"
        )
    return separator, 1


def _separators(text: str) -> set[str]:
    """The separators outside of quotes in the first line, which is longer where a name in quotes has several lines."""
    found, at = set[str](), 0
    while cell := _CELL.match(text, at):
        at = cell.end()
        if text[at : at + 1] not in NAMES:
            break
        found.add(text[at])
        at += 1
    return found


def _listed(found: set[str]) -> str:
    return " and a ".join(name for separator, name in NAMES.items() if separator in found)
