from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.variations import varied

BASE = MILP(
    [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]],
    row_upper=[2.0, np.inf],
    row_lower=[-np.inf, 1.0],
    names=["a", "b", "c"],
    row_names=["top", "need"],
)


def test_what_is_not_given_is_as_in_the_model() -> None:
    members = varied(BASE, {"row_upper": {"top": [1.0, 3.0]}, "upper": None})
    assert members is not None
    assert [milp.row_upper.tolist() for milp in members] == [[1.0, np.inf], [3.0, np.inf]]
    assert [milp.row_lower.tolist() for milp in members] == [[-np.inf, 1.0]] * 2
    assert varied(BASE, {"upper": None}) is None


def test_arrays_mappings_and_data_frames_mean_the_same() -> None:
    full = [[1.0, 5.0, 1.0], [1.0, 7.0, 1.0]]
    given = [full, np.array(full), {"b": [5.0, 7.0]}, pd.DataFrame({"b": [5, 7]})]
    found = [[milp.upper.tolist() for milp in varied(BASE, {"upper": one}) or []] for one in given]
    assert found == [full] * 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"row_upper": {"tip": [1.0]}}, "row_upper: the model has no row 'tip'; its rows are top, need"),
        ({"upper": {"d": [1.0]}}, "upper: the model has no variable 'd'; its variables are a, b, c"),
        ({"upper": {"a": [1.0]}, "lower": {"a": [0.0, 0.0]}}, "one row per member: upper has 1, lower has 2"),
        (
            {"upper": {"a": [1.0], "b": [1.0, 2.0]}},
            r"all columns of upper must have one value per member, got \[1, 2\]",
        ),
        ({"lower": {"c": [0.0, 2.0]}}, "member 1 leaves nothing between the bounds 2 and 1 of the variable 'c'"),
        ({"row_upper": {"need": [0.0]}}, "member 0 leaves nothing between the bounds 1 and 0 of the row 'need'"),
        ({"upper": [[1.0, 2.0]]}, r"upper must have shape \(members, 3\), got \(1, 2\)"),
        ({"upper": {"a": 3.0}}, r"upper of 'a' must have shape \(members,\), got \(\)"),
        ({"upper": {"a": ["many"]}}, "upper of 'a' must be numbers"),
        ({"upper": {"a": [10**400]}}, "upper of 'a' must be numbers, got list: int too large"),
        ({"upper": {"a": [np.nan]}}, "upper of 'a' must not be NaN"),
        ({"fixed_cost": {"a": [np.inf]}}, "fixed_cost of 'a' must not be NaN or infinite"),
    ],
)
def test_what_does_not_fit_is_named(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        varied(BASE, given)


def test_names_need_a_model_with_names() -> None:
    with pytest.raises(InputError, match=r"the rows of this model have no names \(read models with keep_rows=True\)"):
        varied(MILP([[1.0]]), {"row_upper": {"top": [1.0]}})
