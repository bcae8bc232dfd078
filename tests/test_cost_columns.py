from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from regretless import Dataset, Problem
from regretless.cost_columns import by_name, checked_names, refuse_other_rows
from regretless.errors import InputError
from regretless.estimator import DecisionRegressor


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


DAYS = pd.date_range("2024-01-01", periods=4)
SAID = r"indexes differ in row 0: .*costs\.loc\[features\.index\]"


def frame(index: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": np.arange(4.0), "b": [3.0, 1.5, 2.5, 0.0]}, index=index)


@pytest.mark.parametrize(
    ("one", "other"),
    [(DAYS, DAYS[::-1]), (DAYS, DAYS + pd.Timedelta(days=1)), (list("abcd"), list("bacd")), (range(4), [3, 2, 1, 0])],
)
def test_rows_in_another_order_are_refused(one: Any, other: Any) -> None:
    with pytest.raises(InputError, match=SAID):
        refuse_other_rows(frame(one), frame(other))


@pytest.mark.parametrize(
    ("one", "other"), [(DAYS, DAYS), (DAYS, None), (None, [7, 8, 9, 10]), ([2, 3, 4, 5], None), (DAYS, list("abcd"))]
)
def test_indexes_that_do_not_contradict_each_other_go_by_position(one: Any, other: Any) -> None:
    refuse_other_rows(frame(one), frame(other))
    refuse_other_rows(frame(one).to_numpy(), frame(other))
    refuse_other_rows(frame(one).to_numpy().tolist(), frame(other))


def test_data_and_estimator_refuse_them() -> None:
    problem = Problem(oracle=lambda c: c == c.min(), dimension=2, cost_names=["a", "b"])
    with pytest.raises(InputError, match=SAID):
        Dataset.solve(problem, frame(DAYS), frame(DAYS[::-1]))
    with pytest.raises(InputError, match=SAID):
        DecisionRegressor(problem, method="two-stage").fit(frame(DAYS), frame(DAYS[::-1]))
    model = DecisionRegressor(problem, method="two-stage").fit(frame(DAYS), frame(DAYS))
    with pytest.raises(InputError, match=SAID):
        model.score(frame(DAYS), frame(DAYS[::-1]))
