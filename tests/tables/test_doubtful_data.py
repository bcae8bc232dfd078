from __future__ import annotations

import warnings

import numpy as np
import pytest

from regretless.errors import RegretlessWarning
from regretless.tables.cells import Cells
from regretless.tables.doubtful_data import (
    FEWEST,
    cost_feature,
    far_outside,
    first_before,
    range_of,
    rows_of_another_scale,
    warn_of_cost_feature,
    warn_of_order,
    warn_of_range,
    warn_of_scale,
    warn_of_two_units,
)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["2024-01-01", "2024-01-02", "2024-02-01"], None),
        (["2024-01-01", "2024-01-01"], None),
        (["2024-01-02", "2024-01-01"], ("2024-01-02", "2024-01-01")),
        (["2024-01-01 09:00", "2024-01-01 10:00", "2024-01-01 08:00"], ("2024-01-01 10:00", "2024-01-01 08:00")),
        (["2024-10-27T02:30+02:00", "2024-10-27T02:00+01:00"], None),
        (["2024-01-02", "2024-01-01", "monday"], None),
        (["2024-01-02", "2024-01-01T00:00+01:00"], None),
        (["9", "8"], None),
        ([], None),
    ],
)
def test_the_first_date_out_of_order_is_found(names: list[str], found: tuple[str, str] | None) -> None:
    assert first_before(names) == found


def test_only_rows_that_are_held_out_need_an_order() -> None:
    newest_first = ["2024-01-02", "2024-01-01"]
    with pytest.warns(RegretlessWarning, match=r"last rows of c\.csv are held out.*2024-01-01 comes after 2024-01-02"):
        warn_of_order("c.csv", newest_first, 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_order("c.csv", newest_first, 0.0)
        warn_of_order("c.csv", None, 0.2)
        warn_of_order("c.csv", newest_first[::-1], 0.2)


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


COSTS = np.random.default_rng(0).normal(size=(FEWEST, 3))
OTHER = np.random.default_rng(1).normal(size=(FEWEST, 2))


def test_a_feature_that_is_a_cost_is_found_in_tables_of_both_kinds() -> None:
    assert cost_feature(OTHER, COSTS) is None
    assert cost_feature(np.column_stack([OTHER, COSTS[:, 1]]), COSTS) == (2, 1)
    per_variable = np.random.default_rng(2).normal(size=(FEWEST, 3, 2))
    assert cost_feature(per_variable, COSTS) is None
    per_variable[..., 1] = COSTS
    assert cost_feature(per_variable, COSTS) == (1, None)


def test_columns_with_one_value_and_columns_that_differ_in_one_row_do_not_count() -> None:
    assert cost_feature(np.zeros((FEWEST, 1)), np.zeros((FEWEST, 2))) is None
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


def test_few_or_constant_numbers_have_no_range() -> None:
    values = np.arange(float(FEWEST))
    assert range_of(values) == (0.0, FEWEST - 1.0)
    assert range_of(values[1:]) is None
    assert range_of(np.full(FEWEST, 3.0)) is None


@pytest.mark.parametrize(
    ("values", "range", "row"),
    [
        ([3.0, 5.0], (3.0, 5.0), None),
        ([1.0, 7.0], (3.0, 5.0), None),  # one width outside is near
        ([3.0, 0.9], (3.0, 5.0), 1),
        ([7.1, 4.0], (3.0, 5.0), 0),
        ([3000.0], (0.0, 5.0), 0),
        ([0.1, 0.5], (100.0, 500.0), 0),  # kilowatts in megawatts
        ([-0.1, -0.5], (-500.0, -100.0), 0),
        ([0.1, 120.0], (100.0, 500.0), None),  # not all of them are small
        ([20.0], (100.0, 500.0), None),
        ([0.1], (-1.0, 500.0), None),  # numbers of both signs may be close to zero
    ],
)
def test_far_outside_is_more_than_a_width_away_or_much_closer_to_zero(
    values: list[float], range: tuple[float, float], row: int | None
) -> None:
    assert far_outside(np.array(values), range) == row


def test_all_columns_of_a_table_are_reported_in_one_warning() -> None:
    cells = Cells("new.csv", {"wind": [], "load": [], "sun": []}, ("line 2", "line 3"), "line 1")
    near, far = np.array([3.5, 4.0]), np.array([4.0, 4250.5])
    with pytest.warns(RegretlessWarning) as told:
        warn_of_range(cells, {"wind": ((3.0, 5.0), far), "load": ((0.25, 5.0), 1 + far), "sun": ((3.0, 5.0), near)})
    assert [str(one.message) for one in told] == [
        "new.csv: numbers far outside of those of training: 'wind' has 4 to 4,250 (in training 3 to 5, first in line "
        "3), 'load' has 5 to 4,252 (in training 0.25 to 5, first in line 3). Are the columns and units those of "
        "training? Predictions so far outside are not reliable"
    ]
    warn_of_range(cells, {"sun": ((3.0, 5.0), near)})


KNOWN = np.array([[50.0, -60.0], [70.0, 80.0]])


@pytest.mark.parametrize(("factor", "size"), [(0.1, "6"), (1000.0, "60,000"), (-10.0, "600")])
def test_other_units_are_reported(factor: float, size: str) -> None:
    said = f"of c.csv are on another scale than those of run: half of them are above {size} in size, .* above 60;"
    with pytest.warns(RegretlessWarning, match=said):
        warn_of_scale(factor * KNOWN, KNOWN, source="c.csv", run="run")


@pytest.mark.parametrize("factor", [1.0, 5.0, 0.2, 0.0])
def test_a_rise_of_prices_or_zeros_are_not(factor: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_scale(factor * KNOWN, KNOWN, source="c.csv", run="run")
