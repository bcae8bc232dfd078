from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pytest

from regretless.errors import InputError
from regretless.problems import load, names
from regretless.problems.option_check import check_options, options_of
from regretless.problems.problem_table import loader


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
