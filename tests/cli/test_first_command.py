"""The first command of a user with tables: every mistake is answered with its remedy."""

from __future__ import annotations

import pytest

from .files import ITEMS, CommandLine, Files, write_csv

DAYS = [f"2024-01-{i + 1:02}" for i in range(20)]
COSTS = [[i + j + 1 for j in range(5)] for i in range(20)]
WIDE = [[day, *row] for day, row in zip(DAYS, COSTS, strict=True)]
LONG = [[day, name, cost] for day, row in zip(DAYS, COSTS, strict=True) for name, cost in zip(ITEMS, row, strict=True)]
SLASHES = [[f"01/{i + 1:02}/2024", *row] for i, row in enumerate(COSTS)]


@pytest.fixture
def tables(files: Files) -> Files:
    put = {
        "t": (["day", "wind"], [[day, i] for i, day in enumerate(DAYS)]),
        "wide": (["day", *ITEMS], WIDE),
        "Day": (["Day", *ITEMS], WIDE),
        "spaces": (["day", *(name.replace("_", " ") for name in ITEMS)], WIDE),
        "long": (["day", "item", "price"], LONG),
        "slashes": (["day", *ITEMS], SLASHES),
        "short": (["day", *ITEMS], WIDE[:15]),
        "limits": (["day", "row:weight"], [[day, 6] for day in DAYS]),
        "bounds": (["day", "x_1"], [[day, 1] for day in DAYS]),
    }
    for name, (header, rows) in put.items():
        write_csv(files.folder / f"{name}.csv", header, rows)
    return files


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--features t --costs wide", ["missing: rent; unknown: day", "--cost-variables 'x_*'", "--id day"]),
        ("--features t --costs spaces", ["'x 0' is probably 'x_0'", "--cost-variables 'x_*'", "--id day"]),
        ("--features t --costs long", ["'item' holds names of variables: call it 'variable'", "--id day"]),
        ("--features wide --costs t", ["exchange --features and --costs"]),
        ("--features wide --costs wide", ["--features and --costs both name"]),
        ("--features y --costs wide", ["there is no file", "y.csv"]),
        ("--features shorter --costs wide", ["did you mean", "short.csv?"]),
        ("--features t --costs wide --cost-variables x", ["x_0, x_1, x_2; a pattern needs a *, as in '*x*'"]),
        ("--features long --costs wide --id day --cost-variables x_*", ["'item' holds names", "call it 'variable'"]),
        ("--features t --costs Day --id day --cost-variables x_*", ["'Day' is probably meant", "rename the one"]),
        ("--features t --costs slashes --id day --cost-variables x_*", ["write dates as 2024-01-31 in both files"]),
        ("--features t --costs short --id day --cost-variables x_*", ["leave out the rows that are in one of them"]),
        (
            "--features x --costs c --constraints limits --cost-variables x_*",
            ["--ignore day", "--id day if it names the rows"],
        ),
        (
            "--features t --costs wide --constraints bounds --id day --cost-variables x_*",
            ["did you mean upper:x_1, lower:x_1 or fixed:x_1?"],
        ),
    ],
)
def test_the_message_names_the_remedy(tables: Files, cli: CommandLine, words: str, said: list[str]) -> None:
    given = words.split()
    options = [
        str(tables.folder / f"{word}.csv") if before in ("--features", "--costs", "--constraints") else word
        for before, word in zip(["", *given], given, strict=False)
    ]
    result = cli("train", tables.model, *options, "--out", tables.folder / "out")
    assert all(part in result.error for part in said), result.error
    assert not (tables.folder / "out").exists()
