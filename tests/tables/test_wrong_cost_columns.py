from __future__ import annotations

import pytest

from regretless.errors import InputError
from regretless.tables.cells import Cells
from regretless.tables.wrong_cost_columns import cost_variables_option, ignore_option, refuse_other_columns

NAMES = ("buy_north", "buy_south", "open_depot")
BOTH = "train --cost-variables 'buy_*'"


def refuse(*columns: str, named: bool = False) -> None:
    cells = Cells("c.csv", {name: ["1", "2"] for name in columns}, ("line 2", "line 3"))
    refuse_other_columns(cells, NAMES, "instance", named=named)


def test_the_cost_variables_in_any_order_are_accepted() -> None:
    refuse("open_depot", "buy_north", "buy_south")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            "day buy_north buy_south",
            rf"missing: open_depot; unknown: day; add open_depot, or select .* \({BOTH}\); leave the column out "
            r"\(train --ignore day\), or train with --id day if it names the rows$",
        ),
        (
            "buy_north buy_south open_depot region day",
            "leave the columns out .train --ignore region --ignore day., or train with --id region if region names",
        ),
        (
            "BUY-NORTH buy_south day",
            r"'BUY-NORTH' is probably 'buy_north'; name the columns as the model does; add open_depot.*--id day",
        ),
        ("laptop phone", "name the columns as the model does; a table with one row per variable needs the columns"),
    ],
)
def test_both_options_that_help_are_named(columns: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("*'", r"\*'")):
        refuse(*columns.split())


def test_no_other_name_of_rows_is_proposed_where_they_have_one() -> None:
    with pytest.raises(InputError, match=r"leave the column out \(train --ignore day\)$"):
        refuse("day", *NAMES, named=True)


@pytest.mark.parametrize(
    ("chosen", "others", "said"),
    [
        (["x1", "x12"], ["y"], "--cost-variables 'x*'"),
        (["x1", "x12"], ["x"], "--cost-variables 'x1*'"),
        (["x[0]", "x[1]"], ["y[0]"], "--cost-variables 'x[*'"),
        (["a", "b"], ["c"], "--cost-variables a --cost-variables b"),
        (["a", "b", "c", "d"], ["e"], "--cost-variables"),
        (["x1", "x2"], ["y", "x1", "x2"], "--cost-variables 'x*'"),
    ],
)
def test_the_option_selects_the_variables_and_no_others(chosen: list[str], others: list[str], said: str) -> None:
    assert cost_variables_option(chosen, others) == said


def test_a_name_with_a_comma_stays_as_it_is() -> None:
    assert ignore_option(["a, b", "c"]) == "--ignore 'a, b' --ignore c"


def test_at_most_three_columns_to_ignore_are_written() -> None:
    assert ignore_option(list("abcde")) == "--ignore a --ignore b --ignore c and 2 more"
