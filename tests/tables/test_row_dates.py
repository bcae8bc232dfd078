from __future__ import annotations

import warnings

import pytest

from regretless.errors import RegretlessWarning
from regretless.tables.row_dates import first_before, warn_of_order


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["2024-01-01", "2024-01-02", "2024-02-01"], None),
        (["2024-01-01", "2024-01-01"], None),
        (["2024-01-02", "2024-01-01"], ("2024-01-02", "2024-01-01")),
        (["2024-01-01 09:00", "2024-01-01 10:00", "2024-01-01 08:00"], ("2024-01-01 10:00", "2024-01-01 08:00")),
        (["2024-10-27T02:30+02:00", "2024-10-27T02:00+01:00"], None),
        (["2024-01-02", "2024-01-01", "monday"], None),
        (["2024-01-02", "2024-01-01T00:00+01:00"], None),
        (["9", "8"], None),
        ([], None),
    ],
)
def test_the_first_date_out_of_order_is_found(names: list[str], found: tuple[str, str] | None) -> None:
    assert first_before(names) == found


def test_only_rows_that_are_held_out_need_an_order() -> None:
    newest_first = ["2024-01-02", "2024-01-01"]
    with pytest.warns(RegretlessWarning, match=r"last rows of c\.csv are held out.*2024-01-01 comes after 2024-01-02"):
        warn_of_order("c.csv", newest_first, 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_order("c.csv", newest_first, 0.0)
        warn_of_order("c.csv", None, 0.2)
        warn_of_order("c.csv", newest_first[::-1], 0.2)
