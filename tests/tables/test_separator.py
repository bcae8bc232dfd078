from __future__ import annotations

import pytest

from regretless.errors import InputError
from regretless.tables.separator import find_separator


@pytest.mark.parametrize(
    ("text", "separator", "above"),
    [
        ("a,b\n1;2", ",", 0),
        ("a;b\n1,2,3", ";", 0),
        ("a\tb\r\n1\t2", "\t", 0),
        ("wind\n1;2,3", ",", 0),
        ("", ",", 0),
        ('"a,b";c', ";", 0),
        ('a;"b ""c"", d";e', ";", 0),
        ('"wind,\nm/s"\tsun\n1\t2', "\t", 0),
        ('5" pipe;b\n"1,5";2', ";", 0),
        ("sep=;\nx[1,2];x[1,3]\n", ";", 1),
        ("Sep=,\r\na,b;c", ",", 1),
        ("sep=;\nwind\n3,5", ";", 1),
    ],
)
def test_the_header_or_the_line_above_it_tells_the_separator(text: str, separator: str, above: int) -> None:
    assert find_separator("x.csv", text) == (separator, above)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b;c", r"x\.csv, line 1: .* separated by a comma and a semicolon: put names .* into quotes, or .* sep=;"),
        ("a\tb;c", r"separated by a semicolon and a tab"),
        ("sep=|\na|b", r"x\.csv, line 1: sep= must be followed by a comma, a semicolon or a tab, got '\|'"),
        ("sep=;\na,b\n1,2", r"sep= declares a semicolon, but .* separated by a comma: correct the line"),
    ],
)
def test_a_separator_that_is_not_certain_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        find_separator("x.csv", text)
