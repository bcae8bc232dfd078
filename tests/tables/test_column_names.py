from __future__ import annotations

import re

import pytest

from regretless.errors import InputError
from regretless.tables.column_names import check_names

INDEX = "(the index of a pandas data frame: f())"


@pytest.mark.parametrize(
    ("names", "places", "said"),
    [
        ([], [], "t: the file is empty: its first line must name the columns"),
        (["a", ""], [0, 3], "t: column 4 has no name: name it, or leave it out " + INDEX),
        (["a", "b", "a"], [0, 1, 2], "t: two columns are called 'a': rename one of them, or leave it out"),
        (["1", "2.5"], [0, 1], "t: the first line must name the columns, got numbers (1, ...)"),
    ],
)
def test_a_header_that_does_not_name_every_column_once_is_refused(
    names: list[str], places: list[int], said: str
) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(said)}$"):
        check_names("t", names, places, "f()")


def test_years_among_names_are_names() -> None:
    check_names("t", ["day", "2024", "2025"], [0, 1, 2], "f()")
