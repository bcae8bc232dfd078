from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from regretless.integer_data import integer_scales


@pytest.mark.parametrize(
    ("row", "scale"),
    [
        ([3.0, -4.0], 1.0),
        ([0.5, 2.0], 2.0),
        ([0.1, 0.25], 20.0),
        ([12.34, 1.0], 50.0),
        ([0.001, 7.0], 1000.0),
        ([1 / 3, 1.0], 0.0),
        ([0.0, 0.0], 1.0),
    ],
)
def test_the_scale_is_the_smallest_that_makes_integers(row: list[float], scale: float) -> None:
    assert integer_scales(sparse.csr_array([row]), np.array([True, True])).tolist() == [scale]


def test_a_row_with_a_continuous_variable_has_none() -> None:
    A = sparse.csr_array([[1.0, 1.0], [1.0, 0.0]])
    assert integer_scales(A, np.array([True, False])).tolist() == [0.0, 1.0]
