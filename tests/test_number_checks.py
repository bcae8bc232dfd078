from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.number_checks import check_integer, check_number, check_numbers


@pytest.mark.parametrize("good", [2, 5, np.int64(3)])
def test_integers_in_the_range_are_returned(good: Any) -> None:
    found = check_integer("folds", good, least=2, most=5)
    assert (type(found), found) == (int, good)


@pytest.mark.parametrize("bad", [1, 6, 2.0, "3", None, True, np.float64(3.0)])
def test_everything_else_is_named(bad: Any) -> None:
    with pytest.raises(InputError, match="folds must be an integer from 2 to 5, got"):
        check_integer("folds", bad, least=2, most=5)


def test_a_range_without_an_upper_end_is_named_by_its_lower_one() -> None:
    with pytest.raises(InputError, match="epochs must be an integer, at least 0, got -1"):
        check_integer("epochs", -1, least=0)


@pytest.mark.parametrize("good", [1e-300, 1, 2.5, np.float32(0.5)])
def test_positive_numbers_are_returned(good: Any) -> None:
    found = check_number("lr", good)
    assert (type(found), found) == (float, good)


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, "1", None, True])
def test_what_is_not_positive_and_finite_is_named(bad: Any) -> None:
    with pytest.raises(InputError, match="lr must be a finite number above 0, got"):
        check_number("lr", bad)


def test_the_ends_of_a_range_belong_to_it() -> None:
    check_number("p_solve", 0, least=0, most=1)
    check_number("p_solve", 1.0, least=0, most=1)
    with pytest.raises(InputError, match=r"p_solve must be between 0 and 1, got 1\.5"):
        check_number("p_solve", 1.5, least=0, most=1)
    with pytest.raises(InputError, match="growth must be a finite number, at least 0, got -1"):
        check_number("growth", -1, least=0)


@pytest.mark.parametrize(
    "wrong",
    [{"seed": -1}, {"seed": 2**32}, {"epochs": -1}, {"epochs": 1.5}, {"lr": math.nan}, {"lr": 0.0}, {"lr": math.inf},
     {"batch_size": 0}, {"patience": -1}],
)  # fmt: skip
def test_numbers_that_no_training_can_use_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        check_numbers(**wrong)
    check_numbers(seed=2**32 - 2, epochs=0, lr=1e-12, batch_size=1, patience=0)
