from __future__ import annotations

import pytest

from regretless.errors import InputError
from regretless.problems.problem_table import TABLE, load, loader, names


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
