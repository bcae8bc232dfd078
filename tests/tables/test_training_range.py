from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import RegretlessWarning
from regretless.tables.cells import Cells
from regretless.tables.training_range import FEWEST, far_outside, range_of, warn_of_range


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
