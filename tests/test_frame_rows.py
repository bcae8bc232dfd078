from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from regretless import Dataset, Problem
from regretless.errors import InputError
from regretless.estimator import DecisionRegressor
from regretless.frame_rows import refuse_other_rows

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
