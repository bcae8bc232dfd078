from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from regretless.cost_columns import by_name, checked_names
from regretless.errors import InputError


@pytest.mark.parametrize("order", list(permutations("abc")))
def test_columns_come_in_the_models_order(order):
    frame = pd.DataFrame([[1.0, 2.0, 3.0]], columns=list("abc"))
    assert by_name(frame[list(order)], ("a", "b", "c")).to_numpy().tolist() == [[1.0, 2.0, 3.0]]


def test_what_has_no_names_is_returned_as_it_is():
    array, frame = np.zeros((1, 2)), pd.DataFrame([[1.0, 2.0]])
    assert by_name(array, ("a", "b")) is array
    assert by_name(frame, ("a", "b")) is frame
    assert by_name(frame, None) is frame


def test_columns_that_are_numbers_match_names_that_are_numbers():
    frame = pd.DataFrame([[1.0, 2.0]], columns=[1, 0])
    assert by_name(frame, ("0", "1")).to_numpy().tolist() == [[2.0, 1.0]]


def test_a_column_in_other_case_is_named_as_the_probable_one():
    with pytest.raises(InputError, match=r"missing: y; unknown: Y; 'Y' is probably 'y'\. Rename"):
        by_name(pd.DataFrame({"x": [1.0], "Y": [2.0]}), ("x", "y"))


def test_many_faults_are_listed_in_short():
    frame = pd.DataFrame([range(9)], columns=[f"x{j}" for j in range(9)])
    with pytest.raises(
        InputError, match=r"missing: y; unknown: x0, x1, x2, x3, x4 and 4 more\. Rename or drop columns"
    ):
        by_name(frame, ("y",))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("ab", "must be a list of 2 names, got 'ab'"),
        (3, "must be a list of 2 names, got 3"),
        (["a"], "must hold 2 names, got 1"),
        (["a", 2], "must be text, got 2"),
        (["a", "a"], "must differ, got a more than once"),
    ],
)
def test_names_that_cannot_tell_the_costs_apart_are_refused(names, message):
    with pytest.raises(InputError, match=f"cost_names {message}"):
        checked_names(names, 2)
    assert checked_names(iter("ab"), 2) == ("a", "b")
