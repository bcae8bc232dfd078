from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pytest

from regretless.errors import InputError
from regretless.problems.problem_table import TABLE, check_options, load, loader, names, options_of


def example(
    name: str,
    *,
    days: int = 5,
    share: float | None = None,
    names: str | Sequence[str] | None = None,
    kind: Literal["a", "b"] = "a",
    fast: bool = False,
    seed: int = 0,
) -> None:
    """A loader with every kind of option."""


@pytest.mark.parametrize(
    "options",
    [{"days": 3}, {"share": 1}, {"share": 0.5}, {"share": None}, {"names": "x"}, {"names": ["x", "y"]}, {"kind": "b"},
     {"fast": True}, {"seed": 0}, {}],
)  # fmt: skip
def test_values_of_the_right_type_pass(options: dict[str, Any]) -> None:
    check_options("example", example, options)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [("days", "3", "int"), ("days", 3.5, "int"), ("days", True, "int"), ("share", "half", "float"),
     ("names", [1], "str"), ("names", 3, "str"), ("kind", "c", "one of a, b"), ("kind", 1, "one of a, b"),
     ("fast", 1, "bool"), ("seed", -1, "0")],
)  # fmt: skip
def test_values_of_another_type_are_named(key: str, value: Any, expected: str) -> None:
    with pytest.raises(InputError, match=rf"option '{key}' of problem 'example' must be .*{expected}.*, got"):
        check_options("example", example, {key: value})


def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="has no option 'dayz': its options are days, share, names, kind, fast, seed"):
        check_options("example", example, {"dayz": 3})


@pytest.mark.parametrize("name", [*names(), "model.lp", "energy:instance.txt"])
def test_every_problem_refuses_a_wrong_engine_before_it_reads_a_file(name: str) -> None:
    good = {"engine": "highs", "workers": 2, "time_limit": 3, "split": "random", "seed": 1}
    known = options_of(loader(name))
    assert {"engine", "workers", "time_limit", "seed"} <= set(known)
    check_options(name, loader(name), {key: value for key, value in good.items() if key in known})
    with pytest.raises(InputError, match="'engine'"):
        load(name, engine=3)


def test_every_row_has_its_own_names_and_a_function_of_its_package():
    assert len(set(names())) == len(names())
    assert [loader(row[0][0]).__name__ for row in TABLE] == [row[2] for row in TABLE]


def test_icon_files_and_model_files_have_loaders():
    assert loader("energy:mine.txt").__name__ == "load_energy"
    assert loader("mine.lp.gz").__name__ == "load_model_file"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "knapsack-61",
            {},
            "problem must be one of synthetic-knapsack-60, .* got 'knapsack-61'; did you mean 'knapsack-60'",
        ),
        ("synthetic-knapsack-60", {"day": 50}, "has no option 'day': its options are split, .* days"),
        ("top-k", {"workers": 0}, "workers must be an integer, at least 1, got 0"),
        ("top-k", {"time_limit": -1.0}, "time_limit must be positive seconds"),
        ("top-k", {"executor": "thread"}, "executor must be one of threads, .* got 'thread'"),
        ("synthetic-knapsack-60", {"on_failure": "panic"}, "must be one of raise, cache, skip, got 'panic'"),
    ],
)
def test_an_unknown_name_or_option_is_refused_with_the_known_ones(name, options, message):
    with pytest.raises(InputError, match=message):
        load(name, **options)


def test_the_failure_rule_reaches_the_problem():
    assert load("synthetic-knapsack-60", days=20, on_failure="skip").problem.on_failure == "skip"
