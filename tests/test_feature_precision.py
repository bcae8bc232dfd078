from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import torch

from regretless import MILP, Dataset, Problem
from regretless.errors import RegretlessWarning
from regretless.feature_precision import warn_of_rounding

DAYS = pd.date_range("2024-01-01", periods=97).strftime("%Y%m%d").astype(int).to_numpy().copy()


def test_dates_as_one_number_are_warned_of() -> None:
    features = np.column_stack([np.linspace(0, 1, 97), DAYS])
    with pytest.warns(RegretlessWarning, match="feature 1 lies between 20240101 and 20240406, which float32 rounds by"):
        data = Dataset.solve(Problem(MILP([[1.0, 1.0]], row_upper=1.0)), features, np.ones((97, 2)))
    assert len(data.features[:, 1].unique()) == 53
    with pytest.warns(RegretlessWarning, match="feature 0 lies between 20240101"):
        warn_of_rounding(torch.as_tensor(DAYS))


@pytest.mark.parametrize(
    "values",
    [
        DAYS - 20240101.0,
        np.full(97, 1e8 / 3),
        1e8 / 3 + np.linspace(-1, 1, 97) * 1e-8,  # rounding of double precision
        2e6 + np.arange(97) % 2,  # integers that single precision has
        np.arange(2020, 2117),
        1.7e9 + 86400.0 * np.arange(97),  # days as seconds
        np.zeros((97, 0)),
        np.zeros(97, dtype=bool),
    ],
)
def test_other_features_are_not(values: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_rounding(torch.as_tensor(values))


def test_double_precision_keeps_them() -> None:
    try:
        torch.set_default_dtype(torch.float64)
        warn_of_rounding(torch.as_tensor(DAYS))
    finally:
        torch.set_default_dtype(torch.float32)
