from __future__ import annotations

import warnings

import numpy as np
import pytest

from regretless.errors import RegretlessWarning
from regretless.tables.cost_features import FEWEST_ROWS, cost_feature, warn_of_cost_feature

COSTS = np.random.default_rng(0).normal(size=(FEWEST_ROWS, 3))
OTHER = np.random.default_rng(1).normal(size=(FEWEST_ROWS, 2))


def test_a_feature_that_is_a_cost_is_found_in_tables_of_both_kinds() -> None:
    assert cost_feature(OTHER, COSTS) is None
    assert cost_feature(np.column_stack([OTHER, COSTS[:, 1]]), COSTS) == (2, 1)
    per_variable = np.random.default_rng(2).normal(size=(FEWEST_ROWS, 3, 2))
    assert cost_feature(per_variable, COSTS) is None
    per_variable[..., 1] = COSTS
    assert cost_feature(per_variable, COSTS) == (1, None)


def test_columns_with_one_value_and_columns_that_differ_in_one_row_do_not_count() -> None:
    assert cost_feature(np.zeros((FEWEST_ROWS, 1)), np.zeros((FEWEST_ROWS, 2))) is None
    almost = COSTS.copy()
    almost[3] += 1e-9
    assert cost_feature(almost, COSTS) is None
    assert cost_feature(np.zeros((0, 1)), np.zeros((0, 2))) is None


def test_the_warning_names_column_and_cost() -> None:
    with pytest.warns(RegretlessWarning, match="the column 'c' of x.csv equals the true cost of 'q' in every row"):
        warn_of_cost_feature("x.csv", COSTS[:, ::-1], ["c", "b", "a"], COSTS, ["o", "p", "q"])
    with pytest.warns(RegretlessWarning, match="column 1 of x.npz equals the true cost of each variable"):
        warn_of_cost_feature("x.npz", COSTS[..., None], None, COSTS, ["o", "p", "q"])


def test_few_rows_and_other_columns_are_not_reported() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_cost_feature("x.csv", COSTS[:5], None, COSTS[:5], ["o", "p", "q"])
        warn_of_cost_feature("x.csv", OTHER, None, COSTS, ["o", "p", "q"])
