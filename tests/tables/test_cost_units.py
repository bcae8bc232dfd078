from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import RegretlessWarning
from regretless.tables.cost_units import rows_of_another_scale, warn_of_two_units

ONE = np.random.default_rng(0).uniform(1, 9, (40, 3))


def scaled(factor: float, rows: slice) -> np.ndarray:
    costs = ONE.copy()
    costs[rows] *= factor
    return costs


@pytest.mark.parametrize(("factor", "rows"), [(1000.0, slice(20, 40)), (-1000.0, slice(0, 10)), (1e-3, slice(0, 30))])
def test_rows_in_another_unit_are_found(factor: float, rows: slice) -> None:
    found = rows_of_another_scale(scaled(factor, rows))
    assert found is not None
    inside = list(range(40))[rows]
    assert found[0] == (inside if abs(factor) > 1 else [i for i in range(40) if i not in inside])
    assert 500 < found[1] < 2000


@pytest.mark.parametrize(
    "costs",
    [
        ONE,
        scaled(1000.0, slice(0, 9)),  # a few rows may be rare events
        scaled(8.0, slice(0, 20)),
        scaled(0.0, slice(0, 20)),  # nothing is known about the unit of a zero
        np.zeros((40, 3)),
        scaled(1000.0, slice(0, 10))[:19],
        np.exp(np.linspace(0, 20, 40))[:, None],  # all scales in between
        np.random.default_rng(1).lognormal(sigma=4, size=(200, 1)),
        np.random.default_rng(2).pareto(0.5, size=(200, 1)),
        ONE * [1.0, 1000.0, 1e-3],  # variables on scales of their own
    ],
)
def test_costs_of_one_unit_pass(costs: np.ndarray) -> None:
    assert rows_of_another_scale(costs) is None


def test_the_warning_names_the_first_row_and_the_factor() -> None:
    costs = np.repeat([[2.0], [2000.0]], 20, axis=0)
    said = r"the costs of 20 of the 40 rows of c\.csv, of which 'd20' is the first, are about 1,000 times as large"
    with pytest.warns(RegretlessWarning, match=said):
        warn_of_two_units("c.csv", costs, [f"d{i}" for i in range(40)])
    with pytest.warns(RegretlessWarning, match=r"of which row 20 \(counted from 0\) is the first"):
        warn_of_two_units("c.csv", costs, None)
