from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from regretless.deciding.one_instance import one_instance
from regretless.errors import InputError, RegretlessWarning
from regretless.milp import MILP
from regretless.tables.encoding import Encoding
from regretless.tables.saved_problem import SavedProblem

DAYS = pd.DataFrame(
    {
        "wind": [1.5, 2.0, 4.0, 3.0],
        "site": ["north", "south", "north", "south"],
        "at": ["06:00", "18:00", "06:00", "18:00"],
    }
)
ENCODING = Encoding.learn(DAYS)
MODEL = MILP([[1.0, 1.0]], row_upper=1.0)
NAMED = SavedProblem(
    MODEL, "max", ("x", "y"), ENCODING.feature_names, (len(ENCODING.feature_names),), encoding=ENCODING
)
NAMELESS = SavedProblem(MODEL, "max", ("x", "y"), None, (3,))
PER_VARIABLE = dataclasses.replace(NAMELESS, shape=(2, 3))
LONG = pd.DataFrame(
    {"instance": ["mon", "mon", "tue", "tue"], "variable": ["y", "x"] * 2, "wind": [2.0, 1.0, 4.0, 3.0]}
)
NAMED_PER_VARIABLE = dataclasses.replace(NAMELESS, shape=(2, 1), encoding=Encoding.learn(LONG[["wind"]]))


def test_named_columns_become_the_features_of_training_in_any_order() -> None:
    want = ENCODING.apply(DAYS)[2].tolist()
    row = {"site": "north", "at": "06:00", "wind": 4.0}
    frame = DAYS.iloc[[2]]
    for given in (row, frame, frame[["at", "wind", "site"]], DAYS.iloc[2]):
        assert one_instance(given, NAMED).tolist() == want


def test_a_request_far_outside_of_training_is_reported() -> None:
    many = pd.concat([DAYS] * 3, ignore_index=True)
    saved = dataclasses.replace(NAMED, encoding=Encoding.learn(many))
    said = r"^features: numbers far outside of those of training: 'wind' has 4,000 \(in training 1\.5 to 4\)\. Are"
    with pytest.warns(RegretlessWarning, match=said):
        one_instance({"site": "north", "at": "06:00", "wind": 4000.0}, saved)


@pytest.mark.parametrize(
    "given", [[1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3], dtype=np.float32), torch.tensor([1.0, 2.0, 3.0])]
)
def test_arrays_are_taken_in_order_as_double_precision(given: Any) -> None:
    found = one_instance(given, NAMELESS)
    assert found.tolist() == [1.0, 2.0, 3.0]
    assert found.dtype is torch.float64


def test_the_result_shares_no_memory_with_what_was_given() -> None:
    given = np.array([1.0, 2.0, 3.0])
    found = one_instance(given, NAMELESS)
    given[0] = 9.0
    assert found.tolist() == [1.0, 2.0, 3.0]


def test_a_frame_of_polars_is_read_as_one_of_pandas() -> None:
    polars = pytest.importorskip("polars")
    row = {"site": "north", "at": "06:00", "wind": 4.0}
    assert one_instance(polars.DataFrame([row]), NAMED).tolist() == one_instance(row, NAMED).tolist()
    with pytest.raises(InputError, match="a data frame in memory, got LazyFrame"), pytest.warns(match="LazyFrame"):
        one_instance(polars.LazyFrame([row]), NAMED)


def test_rows_of_variables_are_matched_by_their_names() -> None:
    assert one_instance(LONG[:2], NAMED_PER_VARIABLE).tolist() == [[1.0], [2.0]]
    assert one_instance(LONG[2:].drop(columns="instance"), NAMED_PER_VARIABLE).tolist() == [[3.0], [4.0]]
    assert one_instance(LONG[:2].to_dict("records"), NAMED_PER_VARIABLE).tolist() == [[1.0], [2.0]]


def test_features_per_variable_have_a_row_per_variable() -> None:
    assert one_instance([[1, 2, 3], [4, 5, 6]], PER_VARIABLE).tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    ("given", "saved", "message"),
    [
        (DAYS, NAMED, "must be one instance, got 4 rows"),
        (DAYS[:0], NAMED, "features has no rows"),
        ({"wind": 1.0, "site": "north"}, NAMED, "missing: at"),
        ({"wind": 1.0, "site": "north", "at": "06:00", "sun": 2}, NAMED, "unknown: sun"),
        ({"wind": 1.0, "site": "east", "at": "06:00"}, NAMED, "'east'"),
        ({"a": 1.0}, NAMELESS, r"no names: give an array of shape \(3,\)"),
        ({"a": 1.0}, PER_VARIABLE, r"no names: give an array of shape \(2, 3\)"),
        (LONG, NAMED_PER_VARIABLE, "must be one instance, got 2 instances"),
        (LONG[:1], NAMED_PER_VARIABLE, "instance 'mon' has no row for the variable 'x'"),
        ({"wind": 1.0}, NAMED_PER_VARIABLE, r"a data frame with a column 'variable' .* or an array of shape \(2, 1\)"),
        ([{"variable": "x", "wind": 1.0}], NAMED_PER_VARIABLE, "'y'"),
        (
            [{"variable": "x", "wind": 1.0}, {"variable": "y"}],
            NAMED_PER_VARIABLE,
            "only one of row 0 and row 1 has 'wind'",
        ),
        ([1.0, 2.0], NAMELESS, r"must have shape \(3,\), got \(2,\)"),
        ([[1.0, 2.0, 3.0]], NAMELESS, r"must have shape \(3,\), got \(1, 3\)"),
        ([1.0, 2.0, np.nan], NAMELESS, "must be finite"),
        ([1.0, 2.0, -np.inf], NAMELESS, "must be finite"),
        (["one", "two", "three"], NAMELESS, "must be numbers, or named as the columns of training"),
        (None, NAMELESS, r"must have shape \(3,\), got \(\)"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_was_expected(given: Any, saved: SavedProblem, message: str) -> None:
    with pytest.raises(InputError, match=message):
        one_instance(given, saved)
